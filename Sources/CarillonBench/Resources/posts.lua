-- For wrk: the same POST again and again, with the headers of the channel webhook and a body of so many bytes.
-- It prints `RESULT requests failed microseconds`.
--
--     wrk ... -- BYTES

local message

function init(args)
  local headers = {
    ["content-type"] = "application/cloudevents+json",
    ["user-agent"] = "Carillon/0.1.0",
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
