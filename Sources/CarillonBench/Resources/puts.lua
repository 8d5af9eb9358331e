-- For wrk: PUTs of a notification to different recipients, so that the partitions share the load.
-- It prints `RESULT requests failed microseconds`.

local body = [[{"content":{"title":"Your order is on its way","subtitle":"Order 00001001",]] ..
  [["body":"The parcel \"00001001\" has left our warehouse and will be with you soon.","badge":3,]] ..
  [["sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"orders","interruptionLevel":"active",]] ..
  [["relevanceScore":0.5,"userInfo":{"orderId":"00001001","customer":{"tier":"gold"}}}}]]
local headers = {["Content-Type"] = "application/json"}
local count = 0

request = function()
  count = count + 1
  local number = count % 50000
  return wrk.format("PUT", "/v1/recipients/user-" .. number .. "/notifications/order-" .. number, headers, body)
end

done = function(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write
  io.write(string.format("RESULT %d %d %d\n", summary.requests, failed, summary.duration))
end
