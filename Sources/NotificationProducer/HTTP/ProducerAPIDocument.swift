// swift-format-ignore-file
// Made by deploy/api/documents.py from deploy/api/openapi-producer.yaml; do not edit.

/// The OpenAPI document of the producer service.
enum ProducerAPIDocument {
    /// JSON.
    static let json = #"""
        {"openapi":"3.1.0","info":{"title":"Carillon, the API of the producer service","version":"0.1.0","summary":
        "Events, notifications, removals, devices, categories and signals.","description":
        "A 202 means that the broker has written the record; what becomes of it is an event on the topic deliveries. Calls are safe to repeat: see Idempotency-Key."
        ,"license":{"name":"Apache 2.0","identifier":"Apache-2.0"}},"servers":[{"url":"http://127.0.0.1:8080"}],"security":[{},{"token"
        :[]}],"tags":[{"name":"events"},{"name":"notifications"},{"name":"devices"},{"name":"signals"},{"name":"categories"},{"name":
        "contracts"}],"x-problems":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"}},"x-body-problems":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"}},"x-accepted":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Place"}}}},"x-signal"
        :{"tags":["signals"],"parameters":[{"$ref":"#/components/parameters/application"},{"$ref":
        "#/components/parameters/idempotencyKey"}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"},"413":{"$ref":
        "#/components/responses/Problem"},"415":{"$ref":"#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"
        },"202":{"description":"The broker has written the record.","content":{"application/json":{"schema":{"$ref":
        "#/components/schemas/Place"}}}}}},"paths":{"/v1/events":{"post":{"operationId":"publishEvents","tags":["events"],"summary":
        "Publish CloudEvents in binary, structured or batch mode; rules make notifications of them.","description":
        "In binary mode the attributes are header fields that begin with ce-, and the body is the data.","parameters":[{"$ref":
        "#/components/parameters/idempotencyKey"},{"name":"ce-id","in":"header","description":"In binary mode.","schema":{"type":
        "string"}},{"name":"ce-source","in":"header","description":"In binary mode.","schema":{"type":"string"}},{"name":"ce-type","in":
        "header","description":"In binary mode; types that begin with carillon. are refused.","schema":{"type":"string"}},{"name":
        "ce-specversion","in":"header","description":"In binary mode.","schema":{"const":"1.0"}},{"name":"ce-subject","in":"header",
        "schema":{"type":"string"}},{"name":"ce-partitionkey","in":"header","schema":{"type":"string"}},{"name":"ce-time","in":"header",
        "schema":{"type":"string","format":"date-time"}}],"requestBody":{"content":{"application/json":{"schema":{"description":
        "The data of an event in binary mode."}},"application/cloudevents+json":{"schema":{"$ref":"#/components/schemas/BusinessEvent"}}
        ,"application/cloudevents-batch+json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/BusinessEvent"}}}}},
        "responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{
        "$ref":"#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":
        "#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"
        },"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The events are on business-events; for a batch a list.","content":{"application/json":{"schema":{"oneOf":[{"$ref":
        "#/components/schemas/EventReceipt"},{"type":"array","items":{"$ref":"#/components/schemas/EventReceipt"}}]}}}}}}},
        "/v1/recipients/{recipient}/notifications":{"parameters":[{"$ref":"#/components/parameters/recipient"}],"post":{"operationId":
        "createNotification","tags":["notifications"],"summary":"Request a notification with a new identifier.","parameters":[{"$ref":
        "#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"requestBody":{"required":true,
        "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Notification"}}}},"responses":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the request.","headers":{"Location":{"description":"Where the notification is.","required":true,"schema"
        :{"type":"string"}}},"content":{"application/json":{"schema":{"allOf":[{"$ref":"#/components/schemas/Receipt"},{"type":"object",
        "properties":{"identifier":{"type":"string"}},"required":["identifier"]}]}}}}}},"delete":{"operationId":"removeNotifications",
        "tags":["notifications"],"summary":"Remove several notifications, or all of the recipient's.","parameters":[{"$ref":
        "#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"},{"$ref":
        "#/components/parameters/removedState"},{"name":"identifier","in":"query","description":
        "Repeated for each one; without it all of the recipient's.","schema":{"type":"array","items":{"$ref":
        "#/components/schemas/component"},"maxItems":1000}}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"},"413":{"$ref":
        "#/components/responses/Problem"},"202":{"description":"The broker has written the removals.","content":{"application/json":{
        "schema":{"oneOf":[{"$ref":"#/components/schemas/Receipt"},{"type":"object","properties":{"removals":{"type":"array","items":{
        "allOf":[{"$ref":"#/components/schemas/Receipt"},{"type":"object","properties":{"identifier":{"type":"string"}},"required":[
        "identifier"]}]}}},"required":["removals"]}]}}}}}}},"/v1/recipients/{recipient}/notifications/{identifier}":{"parameters":[{
        "$ref":"#/components/parameters/recipient"},{"$ref":"#/components/parameters/identifier"}],"put":{"operationId":
        "putNotification","tags":["notifications"],"summary":"Request a notification; it replaces the one with its identifier.",
        "parameters":[{"$ref":"#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"requestBody":{
        "required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Notification"}}}},"responses":{"400":{
        "$ref":"#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Receipt"}}}}}},
        "delete":{"operationId":"removeNotification","tags":["notifications"],"summary":
        "Cancel it while it is pending, take it back when it was delivered.","parameters":[{"$ref":"#/components/parameters/application"
        },{"$ref":"#/components/parameters/idempotencyKey"},{"$ref":"#/components/parameters/removedState"}],"responses":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"202":{"description":"The broker has written the record.","content":{"application/json":{
        "schema":{"$ref":"#/components/schemas/Receipt"}}}}}}},"/v1/recipients/{recipient}/devices/{device}":{"parameters":[{"$ref":
        "#/components/parameters/recipient"},{"name":"device","in":"path","required":true,"schema":{"$ref":
        "#/components/schemas/component"}}],"put":{"operationId":"registerDevice","tags":["devices"],"summary":
        "Register a device; it replaces the registration before.","parameters":[{"$ref":"#/components/parameters/application"},{"$ref":
        "#/components/parameters/idempotencyKey"}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":
        "#/components/schemas/Device"}}}},"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"},"413":{"$ref":
        "#/components/responses/Problem"},"415":{"$ref":"#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"
        },"202":{"description":"The broker has written the record.","content":{"application/json":{"schema":{"$ref":
        "#/components/schemas/Place"}}}}}},"delete":{"operationId":"removeDevice","tags":["devices"],"summary":"The device is gone.",
        "parameters":[{"$ref":"#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"responses":{
        "400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"202":{"description":"The broker has written the record.","content":{"application/json":{
        "schema":{"$ref":"#/components/schemas/Place"}}}}}}},"/v1/recipients/{recipient}/responses":{"parameters":[{"$ref":
        "#/components/parameters/recipient"}],"post":{"tags":["signals"],"parameters":[{"$ref":"#/components/parameters/application"},{
        "$ref":"#/components/parameters/idempotencyKey"}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"},"413":{"$ref":
        "#/components/responses/Problem"},"415":{"$ref":"#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"
        },"202":{"description":"The broker has written the record.","content":{"application/json":{"schema":{"allOf":[{"$ref":
        "#/components/schemas/Place"},{"type":"object","properties":{"responseId":{"$ref":"#/components/schemas/requestId"}},"required"
        :["responseId"]}]}}}}},"operationId":"tellResponse","summary":"What a person did with a notification.","requestBody":{"required"
        :true,"content":{"application/json":{"schema":{"type":"object","properties":{"identifier":{"$ref":
        "#/components/schemas/component"},"requestId":{"$ref":"#/components/schemas/requestId"},"responseId":{"$ref":
        "#/components/schemas/requestId"},"device":{"$ref":"#/components/schemas/component"},"actionIdentifier":{"type":"string",
        "description":"default, dismiss, or an action of the category.","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"userText":{"type":"string","description":
        "At most 8 KiB of UTF-8; tabs and line breaks are the only control characters.","maxLength":8192,"pattern":
        "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$"}},"required":["identifier","requestId","actionIdentifier"],
        "additionalProperties":false,"title":"carillon.signal.response.v1"}}}}}},"/v1/recipients/{recipient}/receipts":{"parameters":[{
        "$ref":"#/components/parameters/recipient"}],"post":{"tags":["signals"],"parameters":[{"$ref":
        "#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"responses":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Place"}}}}},
        "operationId":"tellReceipt","summary":"How far a notification came on a device.","requestBody":{"required":true,"content":{
        "application/json":{"schema":{"type":"object","properties":{"identifier":{"$ref":"#/components/schemas/component"},"requestId":{
        "$ref":"#/components/schemas/requestId"},"device":{"$ref":"#/components/schemas/component"},"receipt":{"enum":["received",
        "presented","opened"]}},"required":["identifier","requestId","device","receipt"],"additionalProperties":false,"title":
        "carillon.signal.receipt.v1"}}}}}},"/v1/recipients/{recipient}/reports":{"parameters":[{"$ref":
        "#/components/parameters/recipient"}],"post":{"tags":["signals"],"parameters":[{"$ref":"#/components/parameters/application"},{
        "$ref":"#/components/parameters/idempotencyKey"}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"},"413":{"$ref":
        "#/components/responses/Problem"},"415":{"$ref":"#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"
        },"202":{"description":"The broker has written the record.","content":{"application/json":{"schema":{"$ref":
        "#/components/schemas/Place"}}}}},"operationId":"tellReport","summary":"What a gateway's attempt became.","requestBody":{
        "required":true,"content":{"application/json":{"schema":{"type":"object","properties":{"identifier":{"$ref":
        "#/components/schemas/component"},"requestId":{"$ref":"#/components/schemas/requestId"},"device":{"$ref":
        "#/components/schemas/component"},"outcome":{"enum":["accepted","rejected","unregistered","deferred"]},"reason":{"type":"string"
        ,"maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}},"required":["identifier","requestId","device","outcome"],
        "additionalProperties":false,"title":"carillon.signal.report.v1"}}}}}},"/v1/recipients/{recipient}/locations":{"parameters":[{
        "$ref":"#/components/parameters/recipient"}],"post":{"tags":["signals"],"parameters":[{"$ref":
        "#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"responses":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Place"}}}}},
        "operationId":"tellLocation","summary":"Where a device is, for the regions of one application.","requestBody":{"required":true,
        "content":{"application/json":{"schema":{"type":"object","properties":{"device":{"$ref":"#/components/schemas/component"},
        "latitude":{"type":"number","minimum":-90,"maximum":90},"longitude":{"type":"number","minimum":-180,"maximum":180},"accuracy":{
        "type":"number","description":
        "The radius in metres of the circle in which the device is; 0 is exact, and so is a fix without it.","minimum":0,"maximum"
        :20037508},"at":{"$ref":"#/components/schemas/timestamp"}},"required":["device","latitude","longitude","at"],
        "additionalProperties":false,"title":"carillon.signal.location.v1"}}}}}},"/v1/recipients/{recipient}/app-states":{"parameters"
        :[{"$ref":"#/components/parameters/recipient"}],"post":{"tags":["signals"],"parameters":[{"$ref":
        "#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"responses":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Place"}}}}},
        "operationId":"tellAppState","summary":"Whether an app is in the foreground, and the number that its icon shows.","requestBody"
        :{"required":true,"content":{"application/json":{"schema":{"type":"object","properties":{"device":{"$ref":
        "#/components/schemas/component"},"state":{"enum":["foreground","background"]},"badge":{"type":"integer","description":
        "The number that the app's icon shows now.","minimum":0,"maximum":1000000000},"at":{"$ref":"#/components/schemas/timestamp"}},
        "required":["device","state"],"additionalProperties":false,"title":"carillon.signal.app-state.v1"}}}}}},
        "/v1/recipients/{recipient}/retirements":{"parameters":[{"$ref":"#/components/parameters/recipient"}],"post":{"tags":["signals"]
        ,"parameters":[{"$ref":"#/components/parameters/application"},{"$ref":"#/components/parameters/idempotencyKey"}],"responses":{
        "400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Place"}}}}},
        "operationId":"tellRetirement","summary":"A token that its platform called gone.","requestBody":{"required":true,"content":{
        "application/json":{"schema":{"type":"object","properties":{"device":{"$ref":"#/components/schemas/component"},"token":{"type":
        "string","minLength":1,"maxLength":4096,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"gone":{"$ref":
        "#/components/schemas/timestamp"}},"required":["device","gone"],"additionalProperties":false,"title":
        "carillon.signal.retirement.v1"}}}}}},"/v1/categories":{"put":{"operationId":"setCategories","tags":["categories"],"summary":
        "Set the categories of an application; they replace all of it.","parameters":[{"$ref":"#/components/parameters/application"},{
        "$ref":"#/components/parameters/idempotencyKey"}],"requestBody":{"required":true,"content":{"application/json":{"schema":{
        "title":"Category set","type":"object","properties":{"categories":{"type":"array","items":{"type":"object","properties":{
        "identifier":{"type":"string","minLength":1,"maxLength":1024,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"options":{"type"
        :"array","uniqueItems":true,"items":{"enum":["customDismissAction","allowInCarPlay","hiddenPreviewsShowTitle",
        "hiddenPreviewsShowSubtitle","allowAnnouncement"]}},"actions":{"type":"array","maxItems":10,"items":{"$ref":
        "#/components/schemas/action"}},"response":{"enum":["forward","dismiss","keep"]},"presentation":{"$ref":
        "#/components/schemas/foreground"},"intentIdentifiers":{"type":"array","maxItems":32,"items":{"type":"string","minLength":1,
        "maxLength":1024}},"hiddenPreviewsBodyPlaceholder":{"type":"string","maxLength":1024},"categorySummaryFormat":{"type":"string",
        "maxLength":1024}},"required":["identifier"],"additionalProperties":false},"maxItems":256}},"required":["categories"],
        "additionalProperties":false,"description":
        "An empty array clears the set. The codec also checks that identifiers are unique: of categories, and of actions across all categories."
        }}}},"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403"
        :{"$ref":"#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":
        "#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"
        },"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"413":{"$ref":"#/components/responses/Problem"},"415":{"$ref":
        "#/components/responses/Problem"},"422":{"$ref":"#/components/responses/Problem"},"202":{"description":
        "The broker has written the record.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Place"}}}}}},"get":{
        "operationId":"getCategories","tags":["categories"],"summary":"The categories of an application.","parameters":[{"$ref":
        "#/components/parameters/application"}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":
        "#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"},"404":{"$ref":
        "#/components/responses/Problem"},"200":{"description":"They were set.","content":{"application/json":{"schema":{"title":
        "Category set","type":"object","properties":{"categories":{"type":"array","items":{"type":"object","properties":{"identifier":{
        "type":"string","minLength":1,"maxLength":1024,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"options":{"type":"array",
        "uniqueItems":true,"items":{"enum":["customDismissAction","allowInCarPlay","hiddenPreviewsShowTitle",
        "hiddenPreviewsShowSubtitle","allowAnnouncement"]}},"actions":{"type":"array","maxItems":10,"items":{"$ref":
        "#/components/schemas/action"}},"response":{"enum":["forward","dismiss","keep"]},"presentation":{"$ref":
        "#/components/schemas/foreground"},"intentIdentifiers":{"type":"array","maxItems":32,"items":{"type":"string","minLength":1,
        "maxLength":1024}},"hiddenPreviewsBodyPlaceholder":{"type":"string","maxLength":1024},"categorySummaryFormat":{"type":"string",
        "maxLength":1024}},"required":["identifier"],"additionalProperties":false},"maxItems":256}},"required":["categories"],
        "additionalProperties":false,"description":
        "An empty array clears the set. The codec also checks that identifiers are unique: of categories, and of actions across all categories."
        }}}}}}},"/openapi.json":{"get":{"operationId":"getOpenAPI","tags":["contracts"],"security":[{}],"summary":"This document.",
        "responses":{"200":{"description":"The document.","content":{"application/json":{"schema":{"type":"object"}}}},"400":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"}}}},"/asyncapi.json":{"get"
        :{"operationId":"getAsyncAPI","tags":["contracts"],"security":[{}],"summary":"The document of the topics.","responses":{"200":{
        "description":"The document.","content":{"application/json":{"schema":{"type":"object"}}}},"400":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"431":{"$ref":"#/components/responses/Problem"},"503":{"$ref":"#/components/responses/Unavailable"}}}}},"components":{
        "securitySchemes":{"token":{"type":"http","scheme":"bearer","description":
        "A token of http.tokens.file, or a recipient token (JWT). Without such files the API listens on loopback only, and needs none."
        }},"parameters":{"recipient":{"name":"recipient","in":"path","required":true,"schema":{"$ref":"#/components/schemas/component"}}
        ,"identifier":{"name":"identifier","in":"path","required":true,"schema":{"$ref":"#/components/schemas/component"}},"application"
        :{"name":"application","in":"query","description":"application.default without it.","schema":{"$ref":
        "#/components/schemas/component"}},"removedState":{"name":"state","in":"query","description":"What is removed; all without it.",
        "schema":{"enum":["pending","delivered","all"]}},"idempotencyKey":{"name":"Idempotency-Key","in":"header","description":
        "The ids are derived from it, so that a repeated call is dropped as a duplicate. A text in double quotes.","schema":{"type":
        "string","pattern":"^\"([ !#-\\[\\]-~]|\\\\[\"\\\\]){1,255}\"$"},"example":"\"8e03978e-40d5\""}},"responses":{"Problem":{
        "description":"The call is refused; reason says why.","content":{"application/problem+json":{"schema":{"$ref":
        "#/components/schemas/Problem"}}}},"Unauthenticated":{"description":"A token is missing or wrong.","headers":{"WWW-Authenticate"
        :{"required":true,"schema":{"type":"string"}}},"content":{"application/problem+json":{"schema":{"$ref":
        "#/components/schemas/Problem"}}}},"Unavailable":{"description":"Repeat the call later; it is safe.","headers":{"Retry-After":{
        "description":"Seconds.","schema":{"type":"integer"}}},"content":{"application/problem+json":{"schema":{"$ref":
        "#/components/schemas/Problem"}}}}},"schemas":{"BusinessEvent":{"title":"Business event: a CloudEvent 1.0 in structured mode",
        "type":"object","properties":{"specversion":{"const":"1.0"},"id":{"type":"string","minLength":1,"maxLength":4096},"source":{
        "type":"string","minLength":1,"maxLength":4096},"type":{"type":"string","minLength":1,"maxLength":4096},"subject":{"type":
        "string","minLength":1,"maxLength":4096},"time":{"$ref":"#/components/schemas/timestamp"},"datacontenttype":{"type":"string",
        "minLength":1,"maxLength":4096},"dataschema":{"type":"string","minLength":1,"maxLength":4096},"data":true,"data_base64":{"type":
        "string","pattern":"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}},"required":["specversion","id","source",
        "type"],"propertyNames":{"anyOf":[{"const":"data_base64"},{"pattern":"^[a-z0-9]{1,20}$"}]},"additionalProperties":{"type":[
        "string","number","boolean","null"]},"not":{"required":["data","data_base64"]}},"Notification":{"title":
        "Notification request: the body of an HTTP call","type":"object","properties":{"version":{"$ref":"#/components/schemas/version"}
        ,"content":{"oneOf":[{"$ref":"#/components/schemas/content"},{"$ref":"#/components/schemas/existingContent"}]},"trigger":{"$ref"
        :"#/components/schemas/trigger"},"expiration":{"$ref":"#/components/schemas/timestamp"},"collapseWindow":{"type":"number",
        "minimum":0,"maximum":86400},"channel":{"enum":["events","webhook","test","devices","apns","fcm","webpush"]},"quietHours":{
        "$ref":"#/components/schemas/quietHours"},"cap":{"$ref":"#/components/schemas/cap"},"digest":{"$ref":
        "#/components/schemas/digest","$comment":"Not with a trigger that repeats; the codec checks it."}},"required":["content"],
        "additionalProperties":false},"Device":{"title":"Device registration","type":"object","properties":{"platform":{"type":"string",
        "pattern":"^[a-z0-9._-]{1,64}$"},"token":{"type":"string","minLength":1,"maxLength":4096,"pattern":"^[ -~]+$"},"kind":{"enum":[
        "device","broadcastChannel","complication","control","fileProvider","liveActivity","liveActivityStart","location","mdm",
        "pushToTalk","voip","widget"],"description":"What the token is for; device, the ordinary one, when it is missing."},
        "attributesType":{"type":"string","description":
        "Of liveActivityStart: the name of the app's ActivityAttributes that the token starts.","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"activity":{"type":"string","description":
        "Of liveActivity: the identifier of the notification that the activity shows.","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"pushToStart":{"type":"string","description":
        "Beside activity: the device under which the same phone has registered its token to start activities.","minLength":1,"maxLength"
        :256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"environment":{"enum":["production","development"]},"bundleIdentifier":{
        "type":"string","minLength":1,"maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"locale":{"type":"string",
        "description":"As BCP 47 has it; underscores are accepted.","pattern":"^[A-Za-z0-9_-]{1,64}$"},"timeZone":{"type":"string",
        "description":"A name of the IANA time zone database.","minLength":1,"maxLength":64,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"appVersion":{"type":"string","minLength":1,"maxLength":64,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"authorizationStatus":{"enum":["notDetermined","denied","authorized","provisional",
        "ephemeral"],"description":"authorized when it is missing."},"settings":{"type":"object","description":
        "A setting that is missing does not restrict anything.","properties":{"alert":{"$ref":"#/components/schemas/setting"},"sound":{
        "$ref":"#/components/schemas/setting"},"badge":{"$ref":"#/components/schemas/setting"},"notificationCenter":{"$ref":
        "#/components/schemas/setting"},"lockScreen":{"$ref":"#/components/schemas/setting"},"carPlay":{"$ref":
        "#/components/schemas/setting"},"criticalAlert":{"$ref":"#/components/schemas/setting"},"announcement":{"$ref":
        "#/components/schemas/setting"},"scheduledDelivery":{"$ref":"#/components/schemas/setting"},"timeSensitive":{"$ref":
        "#/components/schemas/setting"},"directMessages":{"$ref":"#/components/schemas/setting"},"alertStyle":{"enum":["none","banner",
        "alert"]},"showPreviews":{"enum":["always","whenAuthenticated","never"]},"providesAppNotificationSettings":{"type":"boolean"}},
        "additionalProperties":false},"registeredAt":{"$ref":"#/components/schemas/timestamp"}},"required":["platform","token"],
        "additionalProperties":false,"if":{"properties":{"platform":{"const":"apns"},"kind":{"not":{"const":"broadcastChannel"}}},
        "required":["platform"]},"then":{"properties":{"token":{"description":
        "16 to 100 bytes in hexadecimal; written without spaces, < and >, in lower case.","pattern":
        "^[ <>]*([0-9a-fA-F][ <>]*[0-9a-fA-F][ <>]*){16,100}$"}}},"dependentRequired":{"pushToStart":["activity"]},"allOf":[{"if":{
        "properties":{"kind":{"enum":["broadcastChannel","liveActivityStart"]}},"required":["kind"]},"then":{"properties":{"platform":{
        "const":"apns"}}}},{"if":{"properties":{"kind":{"const":"broadcastChannel"}},"required":["kind"]},"then":{"properties":{"token"
        :{"description":"The channel's id, in Base64.","maxLength":64,"minLength":4,"pattern":
        "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}}}},{"if":{"properties":{"kind":{"const":"liveActivityStart"}},
        "required":["kind"]},"then":{"required":["attributesType"]},"else":{"not":{"required":["attributesType"]}}},{"if":{"required":[
        "activity"]},"then":{"properties":{"kind":{"const":"liveActivity"}},"required":["kind"]}}]},"component":{"type":"string",
        "description":"Application, recipient or identifier: 1 to 256 bytes of UTF-8, no control characters.","minLength":1,"maxLength"
        :256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"Place":{"type":"object","description":"Where the record is.",
        "properties":{"topic":{"type":"string"},"partition":{"type":"integer","minimum":0},"offset":{"type":"integer","minimum":0}},
        "required":["topic","partition","offset"]},"Receipt":{"allOf":[{"$ref":"#/components/schemas/Place"},{"type":"object",
        "properties":{"requestId":{"$ref":"#/components/schemas/requestId"},"notConverted":{"type":"array","items":{"type":"string"},
        "description":"What of an existing payload of APNs no content says."}},"required":["requestId"]}]},"EventReceipt":{"allOf":[{
        "$ref":"#/components/schemas/Place"},{"type":"object","properties":{"id":{"type":"string"},"rules":{"type":"array","items":{
        "type":"string"},"description":"Those whose condition holds now."},"outcome":{"enum":["published","skipped","ignored",
        "dead-lettered"]},"reason":{"type":"string"},"field":{"type":"string"},"detail":{"type":"string"}},"required":["id"]}]},
        "Problem":{"type":"object","description":"RFC 9457.","properties":{"type":{"type":"string","pattern":"^urn:carillon:problem:"},
        "title":{"type":"string"},"status":{"type":"integer","minimum":400,"maximum":599},"detail":{"type":"string"},"reason":{"type":
        "string","description":"A code to compare."},"field":{"type":"string","description":"The part of the input that is wrong."},
        "partition":{"type":"integer","minimum":0,"description":"That another instance owns."}},"required":["type","title","status",
        "detail","reason"],"additionalProperties":false},"timestamp":{"type":"string","description":
        "RFC 3339; written in UTC with milliseconds.","pattern":
        "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
        },"requestId":{"type":"string","description":"A UUID, or other text of 1 to 128 bytes of UTF-8.","minLength":1,"maxLength":128,
        "pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"presentation":{"description":"`alert` is banner and list.","enum":["banner",
        "list","sound","badge","alert"]},"action":{"type":"object","properties":{"identifier":{"$ref":
        "#/components/schemas/actionIdentifier"},"title":{"type":"string","minLength":1,"maxLength":1024},"options":{"type":"array",
        "uniqueItems":true,"items":{"enum":["authenticationRequired","destructive","foreground"]}},"textInput":{"type":"object",
        "properties":{"buttonTitle":{"type":"string","maxLength":1024},"placeholder":{"type":"string","maxLength":1024}},
        "additionalProperties":false},"icon":{"type":"string","minLength":1,"maxLength":1024}},"required":["identifier","title"],
        "additionalProperties":false},"actionIdentifier":{"type":"string","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$","not":{"enum":["default","dismiss"]}},"foreground":{"description":
        "What is shown while the app is in the foreground; null: a delegate without the method, nothing.","anyOf":[{"type":"array",
        "uniqueItems":true,"items":{"$ref":"#/components/schemas/presentation"}},{"type":"null"}]},"version":{"type":"integer","minimum"
        :0,"maximum":9223372036854775807},"localization":{"type":"object","properties":{"key":{"type":"string","minLength":1,"maxLength"
        :1024},"arguments":{"type":"array","maxItems":32,"items":{"type":"string"}}},"required":["key"],"additionalProperties":false},
        "sound":{"oneOf":[{"type":"string","minLength":1,"maxLength":1024},{"type":"object","properties":{"name":{"type":"string",
        "minLength":1,"maxLength":1024},"critical":{"type":"boolean"},"volume":{"type":"number","minimum":0,"maximum":1}},
        "additionalProperties":false}]},"attachment":{"type":"object","properties":{"identifier":{"type":"string","minLength":1,
        "maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$","$comment":
        "Unique within the notification; the codec checks it."},"url":{"type":"string","maxLength":2048,"pattern":
        "^[Hh][Tt][Tt][Pp][Ss]?://([A-Za-z0-9_-][A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]{2,}\\])(:[0-9]{1,5})?([/?#][!#-;=?-\\[\\]_a-z~]*)?$"},
        "options":{"type":"object","properties":{"typeHint":{"type":"string","minLength":1,"maxLength":1024},"thumbnailHidden":{"type":
        "boolean"},"thumbnailClippingRect":{"type":"object","properties":{"x":{"type":"number","minimum":0,"maximum":1},"y":{"type":
        "number","minimum":0,"maximum":1},"width":{"type":"number","minimum":0,"maximum":1},"height":{"type":"number","minimum":0,
        "maximum":1}},"required":["x","y","width","height"],"additionalProperties":false},"thumbnailTime":{"type":"number","minimum":0}}
        ,"additionalProperties":false}},"required":["identifier","url"],"additionalProperties":false},"content":{"type":"object",
        "properties":{"title":{"type":"string"},"subtitle":{"type":"string"},"body":{"type":"string"},"titleLocalization":{"$ref":
        "#/components/schemas/localization"},"subtitleLocalization":{"$ref":"#/components/schemas/localization"},"bodyLocalization":{
        "$ref":"#/components/schemas/localization"},"badge":{"type":"integer","minimum":0,"maximum":1000000000},"badgeIncrement":{"type"
        :"integer","minimum":1,"maximum":1000000},"sound":{"$ref":"#/components/schemas/sound"},"categoryIdentifier":{"type":"string",
        "maxLength":1024,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"threadIdentifier":{"type":"string","maxLength":1024,
        "pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"launchImageName":{"type":"string","maxLength":1024},"targetContentIdentifier"
        :{"type":"string","maxLength":1024},"interruptionLevel":{"enum":["passive","active","timeSensitive","critical"]},"presentation"
        :{"$ref":"#/components/schemas/foreground"},"relevanceScore":{"type":"number","minimum":0,"maximum":1},"filterCriteria":{"type":
        "string","maxLength":1024},"summaryArgument":{"type":"string","maxLength":1024},"summaryArgumentCount":{"type":"integer",
        "minimum":0,"maximum":1000000000},"mutableContent":{"type":"boolean"},"attachments":{"type":"array","maxItems":10,"items":{
        "$ref":"#/components/schemas/attachment"}},"userInfo":{"type":"object"},"localizations":{"type":"object","description":
        "Variants of the texts by locale: each device gets those of its own, and otherwise those of the content. At most 64 KiB.",
        "minProperties":1,"maxProperties":200,"propertyNames":{"type":"string","pattern":"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$",
        "maxLength":128},"additionalProperties":{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"title":{
        "type":"string"},"subtitle":{"type":"string"},"body":{"type":"string"}}}},"liveActivity":{"type":"object","description":
        "What a Live Activity shows; its alert is title, body and sound, and no other member stands beside them.","properties":{
        "attributesType":{"type":"string","description":"The name of the app's ActivityAttributes; together with attributes.",
        "minLength":1,"maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"attributes":{"type":"object","description":
        "What the app's attributes decode; without them nothing is started."},"contentState":{"type":"object","description":
        "What the app's ContentState decodes with the default JSONDecoder."},"staleDate":{"$ref":"#/components/schemas/timestamp",
        "description":"From then on it counts as outdated."},"dismissalDate":{"$ref":"#/components/schemas/timestamp","description":
        "When it disappears once it was removed; at once without it."},"relevanceScore":{"type":"number"},"broadcastChannel":{"type":
        "string","description":"The id of the channel by which an activity that is started gets its updates.","minLength":4,"maxLength"
        :64,"pattern":"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}},"required":["contentState"],"dependentRequired":{
        "attributesType":["attributes"],"attributes":["attributesType"],"broadcastChannel":["attributes"]},"additionalProperties"
        :false}},"additionalProperties":false,"description":"At least one field that shows or carries something.","anyOf":[{"required":[
        "title"],"properties":{"title":{"minLength":1}}},{"required":["subtitle"],"properties":{"subtitle":{"minLength":1}}},{"required"
        :["body"],"properties":{"body":{"minLength":1}}},{"required":["titleLocalization"]},{"required":["subtitleLocalization"]},{
        "required":["bodyLocalization"]},{"required":["badge"]},{"required":["badgeIncrement"]},{"required":["sound"]},{"required":[
        "attachments"],"properties":{"attachments":{"minItems":1}}},{"required":["userInfo"],"properties":{"userInfo":{"minProperties"
        :1}}},{"required":["liveActivity"]}],"not":{"required":["badge","badgeIncrement"]}},"existingContent":{"type":"object",
        "description":"A payload of APNs, which is converted to a content where the request is read.","properties":{"apns":{"type":
        "object","properties":{"aps":{"type":"object","$comment":"The codec checks its members."}},"required":["aps"]}},"required":[
        "apns"],"additionalProperties":false},"misfire":{"enum":["once","next","drop"]},"jitter":{"type":"number","minimum":0,"maximum"
        :86400},"trigger":{"type":"object","required":["type"],"oneOf":[{"type":"object","properties":{"type":{"const":"push"}},
        "required":["type"],"additionalProperties":false},{"type":"object","properties":{"type":{"const":"timeInterval"},"timeInterval"
        :{"type":"number","exclusiveMinimum":0,"maximum":316224000},"repeats":{"type":"boolean"},"misfire":{"$ref":
        "#/components/schemas/misfire"},"jitter":{"$ref":"#/components/schemas/jitter"}},"required":["type","timeInterval"],
        "additionalProperties":false,"if":{"required":["repeats"],"properties":{"repeats":{"const":true}}},"then":{"properties":{
        "timeInterval":{"minimum":60}}}},{"type":"object","properties":{"type":{"const":"calendar"},"dateComponents":{"$ref":
        "#/components/schemas/dateComponents"},"timeZone":{"type":"string","minLength":1,"maxLength":64,"description":
        "A name of the IANA time zone database."},"repeats":{"type":"boolean"},"notBefore":{"$ref":"#/components/schemas/timestamp"},
        "gap":{"enum":["nextTime","skip","previous"]},"overlap":{"enum":["first","last","both"]},"missingDay":{"enum":["skip","previous"
        ,"nextTime"],"description":"Only with dateComponents.day."},"misfire":{"$ref":"#/components/schemas/misfire"},"jitter":{"$ref":
        "#/components/schemas/jitter"}},"required":["type","dateComponents"],"additionalProperties":false},{"type":"object","properties"
        :{"type":{"const":"location"},"region":{"type":"object","properties":{"latitude":{"type":"number","minimum":-90,"maximum":90},
        "longitude":{"type":"number","minimum":-180,"maximum":180},"radius":{"type":"number","exclusiveMinimum":0,"maximum":20037508}},
        "required":["latitude","longitude","radius"],"additionalProperties":false},"notifyOnEntry":{"type":"boolean"},"notifyOnExit":{
        "type":"boolean"},"repeats":{"type":"boolean"}},"required":["type","region"],"additionalProperties":false,"anyOf":[{"required":[
        "notifyOnEntry"],"properties":{"notifyOnEntry":{"const":true}}},{"required":["notifyOnExit"],"properties":{"notifyOnExit":{
        "const":true}}}]}]},"dateComponents":{"type":"object","properties":{"era":{"type":"integer","minimum":0,"maximum":1},"year":{
        "type":"integer","minimum":1,"maximum":9999},"quarter":{"type":"integer","minimum":1,"maximum":4},"month":{"oneOf":[{"type":
        "integer","minimum":1,"maximum":12},{"type":"array","items":{"type":"integer","minimum":1,"maximum":12},"minItems":1,
        "uniqueItems":true}],"description":"Several values: any of them."},"weekOfYear":{"type":"integer","minimum":1,"maximum":53},
        "weekOfMonth":{"type":"integer","minimum":1,"maximum":5},"yearForWeekOfYear":{"type":"integer","minimum":1,"maximum":9999},
        "weekday":{"oneOf":[{"type":"integer","minimum":1,"maximum":7},{"type":"array","items":{"type":"integer","minimum":1,"maximum"
        :7},"minItems":1,"uniqueItems":true}],"description":"Several values: any of them."},"weekdayOrdinal":{"type":"integer","minimum"
        :1,"maximum":5},"day":{"oneOf":[{"type":"integer","minimum":1,"maximum":31},{"type":"array","items":{"type":"integer","minimum"
        :1,"maximum":31},"minItems":1,"uniqueItems":true}],"description":"Several values: any of them."},"dayOfYear":{"type":"integer",
        "minimum":1,"maximum":366},"hour":{"oneOf":[{"type":"integer","minimum":0,"maximum":23},{"type":"array","items":{"type":
        "integer","minimum":0,"maximum":23},"minItems":1,"uniqueItems":true}],"description":"Several values: any of them."},"minute":{
        "type":"integer","minimum":0,"maximum":59},"second":{"type":"integer","minimum":0,"maximum":59}},"additionalProperties":false,
        "minProperties":1},"quietHours":{"type":"object","properties":{"start":{"$ref":"#/components/schemas/timeOfDay"},"end":{"$ref":
        "#/components/schemas/timeOfDay"},"policy":{"enum":["hold","suppress"]},"timeZone":{"type":"string","minLength":1,"maxLength":64
        ,"description":"A name of the IANA time zone database; without it, the recipient's zone."}},"required":["start","end"],
        "additionalProperties":false,"$comment":"end is not start; the codec checks it."},"timeOfDay":{"type":"string","pattern":
        "^([01][0-9]|2[0-3]):[0-5][0-9]$"},"cap":{"type":"object","properties":{"count":{"type":"integer","minimum":1,"maximum":1000},
        "period":{"type":"number","minimum":1,"maximum":2678400}},"required":["count","period"],"additionalProperties":false},"digest":{
        "type":"object","properties":{"by":{"enum":["thread","category"],"description":
        "content has the threadIdentifier or categoryIdentifier; the codec checks it."},"window":{"type":"number","minimum":1,"maximum"
        :86400},"title":{"$ref":"#/components/schemas/digestTemplate"},"body":{"$ref":"#/components/schemas/digestTemplate"}},"required"
        :["by","window"],"additionalProperties":false},"digestTemplate":{"type":"string","minLength":1,"maxLength":1024,"description":
        "May contain {{count}}, {{thread}}, {{category}}, {{titles}}, {{first.title}}, {{last.title}}, {{last.body}}."},"setting":{
        "enum":["notSupported","disabled","enabled"]}}}}
        """#
}
