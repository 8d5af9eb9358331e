-- For wrk: the same POST again and again, with the headers of the channel webhook and a body of so many bytes.
-- It prints `RESULT requests failed microseconds`.
--
--     wrk ... -- BYTES

local message

function init(args)
  local headers = {
    ["content-type"] = "application/json",
    ["user-agent"] = "Carillon/0.1.0",
    ["ce-specversion"] = "1.0",
    ["ce-id"] = "12345678-9abc-5def-8000-000000000001",
    ["ce-source"] = "/carillon/bench",
    ["ce-type"] = "carillon.notification.delivered.v1",
    ["ce-time"] = "2026-01-01T00:00:00.000Z",
    ["ce-subject"] = "shop/user-00000001/order-00000001",
    ["idempotency-key"] = "12345678-9abc-5def-8000-000000000001",
    ["webhook-id"] = "12345678-9abc-5def-8000-000000000001",
    ["webhook-timestamp"] = "1767225600",
    ["webhook-signature"] = "v1," .. string.rep("A", 43) .. "=",
  }
  message = wrk.format("POST", "/hooks", headers, string.rep("x", tonumber(args[1])))
end

request = function() return message end

done = function(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write
  io.write(string.format("RESULT %d %d %d\n", summary.requests, failed, summary.duration))
end
