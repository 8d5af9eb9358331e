// swift-format-ignore-file
// Made by deploy/api/documents.py from deploy/api/asyncapi.yaml; do not edit.

/// The AsyncAPI document of the topics.
package enum TopicsDocument {
    /// JSON.
    package static let json = #"""
        {"asyncapi":"3.0.0","info":{"title":"Carillon, the topics","version":"0.1.0","description":
        "Every topic by its standard name; topics.prefix and the other settings topics.* change names. All but business-events in structured mode and categories, devices, tokens and state are CloudEvents 1.0 in Kafka's binary mode. Components of keys are percent-encoded. The partition of a record is that of the recipient, murmur2(recipient) modulo partitions, as Java's client computes it of bytes."
        ,"license":{"name":"Apache 2.0","url":"https://www.apache.org/licenses/LICENSE-2.0"}},"defaultContentType":"application/json",
        "servers":{"kafka":{"host":"localhost:9092","protocol":"kafka"}},"x-key-of-notification":{"type":"string","description":
        "application/recipient/identifier","examples":["shop/ana/order-1"]},"x-recipient-topic":{"kafka":{"bindingVersion":"0.5.0",
        "topicConfiguration":{"cleanup.policy":["delete"]}}},"channels":{"businessEvents":{"address":"carillon.business-events","title":
        "Events of your systems","description":"Rules make requests of them. The key is partitionkey, else subject, else source.",
        "messages":{"businessEvent":{"$ref":"#/components/messages/businessEvent"}},"bindings":{"kafka":{"bindingVersion":"0.5.0",
        "topicConfiguration":{"cleanup.policy":["delete"]}}}},"requests":{"address":"carillon.requests","title":"Requests and removals",
        "description":
        "As many partitions as signals, devices, tokens and state; the number never changes. A null removes all of that identifier.",
        "messages":{"request":{"$ref":"#/components/messages/request"},"removal":{"$ref":"#/components/messages/removal"}},"bindings":{
        "kafka":{"bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":["compact","delete"]}}}},"signals":{"address":
        "carillon.signals","title":"What devices, apps and gateways tell","messages":{"signal":{"$ref":"#/components/messages/signal"}},
        "bindings":{"kafka":{"bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":["delete"]}}}},"devices":{"address":
        "carillon.devices","title":"Devices of recipients","description":"A null is the end of a registration.","messages":{"device":{
        "$ref":"#/components/messages/device"}},"bindings":{"kafka":{"bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":[
        "compact"]}}}},"tokens":{"address":"carillon.tokens","title":"Which recipient has a token","description":
        "Internal to the consumer service.","messages":{"tokenClaim":{"$ref":"#/components/messages/tokenClaim"}},"bindings":{"kafka":{
        "bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":["compact"]}}}},"categories":{"address":"carillon.categories",
        "title":"Categories of applications","messages":{"categories":{"$ref":"#/components/messages/categories"}},"bindings":{"kafka":{
        "bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":["compact"]}}}},"deliveries":{"address":"carillon.deliveries",
        "title":"What became of notifications, devices and channels","messages":{"notificationEvent":{"$ref":
        "#/components/messages/notificationEvent"},"deviceEvent":{"$ref":"#/components/messages/deviceEvent"},"channelEvent":{"$ref":
        "#/components/messages/channelEvent"}},"bindings":{"kafka":{"bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":[
        "delete"]}}}},"responses":{"address":"carillon.responses","title":"What people did with notifications","messages":{
        "responseEvent":{"$ref":"#/components/messages/responseEvent"}},"bindings":{"kafka":{"bindingVersion":"0.5.0",
        "topicConfiguration":{"cleanup.policy":["delete"]}}}},"state":{"address":"carillon.state","title":
        "The changelog of the notification centers","description":"Internal to the consumer service. It must never have a retention.",
        "messages":{"stateEntry":{"$ref":"#/components/messages/stateEntry"},"stateMarker":{"$ref":"#/components/messages/stateMarker"}}
        ,"bindings":{"kafka":{"bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":["compact"]}}}},"deadLetters":{"address":
        "carillon.dead-letters","title":"Records that could not be used","messages":{"deadLetter":{"$ref":
        "#/components/messages/deadLetter"}},"bindings":{"kafka":{"bindingVersion":"0.5.0","topicConfiguration":{"cleanup.policy":[
        "delete"]}}}}},"operations":{"receiveBusinessEvents":{"action":"receive","channel":{"$ref":"#/channels/businessEvents"},
        "summary":"The producer service applies its rules."},"publishBusinessEvents":{"action":"send","channel":{"$ref":
        "#/channels/businessEvents"},"summary":"The producer service publishes those of POST /v1/events."},"receiveRequests":{"action":
        "receive","channel":{"$ref":"#/channels/requests"},"summary":"The consumer service applies them."},"publishRequests":{"action":
        "send","channel":{"$ref":"#/channels/requests"},"summary":"The producer service publishes those of rules and calls."},
        "receiveSignals":{"action":"receive","channel":{"$ref":"#/channels/signals"}},"publishSignals":{"action":"send","channel":{
        "$ref":"#/channels/signals"}},"receiveDevices":{"action":"receive","channel":{"$ref":"#/channels/devices"}},"publishDevices":{
        "action":"send","channel":{"$ref":"#/channels/devices"}},"receiveTokens":{"action":"receive","channel":{"$ref":
        "#/channels/tokens"}},"publishTokens":{"action":"send","channel":{"$ref":"#/channels/tokens"}},"receiveCategories":{"action":
        "receive","channel":{"$ref":"#/channels/categories"},"summary":"Both services know all categories."},"publishCategories":{
        "action":"send","channel":{"$ref":"#/channels/categories"}},"publishDeliveries":{"action":"send","channel":{"$ref":
        "#/channels/deliveries"},"summary":"Your systems read them."},"publishResponses":{"action":"send","channel":{"$ref":
        "#/channels/responses"},"summary":"Your systems read them, and rules."},"receiveResponses":{"action":"receive","channel":{"$ref"
        :"#/channels/responses"},"summary":"The producer service, while a rule is for responses."},"publishState":{"action":"send",
        "channel":{"$ref":"#/channels/state"}},"receiveState":{"action":"receive","channel":{"$ref":"#/channels/state"}},
        "publishDeadLetters":{"action":"send","channel":{"$ref":"#/channels/deadLetters"}}},"components":{"messageTraits":{"cloudEvent"
        :{"headers":{"type":"object","properties":{"ce_specversion":{"const":"1.0"},"ce_type":{"type":"string"},"ce_source":{"type":
        "string","description":"/carillon/ and the deployment in records of Carillon."},"ce_id":{"type":"string"},"ce_subject":{"type":
        "string"},"ce_time":{"type":"string","format":"date-time"},"content-type":{"const":"application/json"},"traceparent":{"type":
        "string"},"tracestate":{"type":"string"}},"required":["ce_specversion","ce_type","ce_source","ce_id"]}}},"messages":{
        "businessEvent":{"title":"A CloudEvent 1.0, in binary or structured mode","contentType":"application/cloudevents+json",
        "bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":"partitionkey, else subject, else source"}}},
        "payload":{"$ref":"#/components/schemas/BusinessEvent"}},"request":{"title":"A request of a notification","traits":[{"$ref":
        "#/components/messageTraits/cloudEvent"}],"bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":
        "application/recipient/identifier","examples":["shop/ana/order-1"]}}},"payload":{"$ref":"#/components/schemas/Request"}},
        "removal":{"title":"A removal of notifications","traits":[{"$ref":"#/components/messageTraits/cloudEvent"}],"bindings":{"kafka"
        :{"bindingVersion":"0.5.0","key":{"type":"string","description":"application/recipient/identifier","examples":[
        "shop/ana/order-1"]}}},"payload":{"$ref":"#/components/schemas/Removal"}},"signal":{"title":
        "A response, receipt, report, location, app state or retirement","traits":[{"$ref":"#/components/messageTraits/cloudEvent"}],
        "bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":"recipient"}}},"payload":{"$ref":
        "#/components/schemas/Signal"}},"device":{"title":"A registration","bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":
        "string","description":"application/recipient/device"}}},"payload":{"$ref":"#/components/schemas/Device"}},"tokenClaim":{"title"
        :"Who has a token","bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":"The hash of the token."
        }}},"payload":{"$ref":"#/components/schemas/TokenClaim"}},"categories":{"title":"All categories of an application","bindings":{
        "kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":"application"}}},"payload":{"$ref":
        "#/components/schemas/Categories"}},"notificationEvent":{"title":"What became of a notification","description":
        "ce_type is carillon.notification.NAME.v1. Exactly one event of a request has closes true.","traits":[{"$ref":
        "#/components/messageTraits/cloudEvent"}],"bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":
        "application/recipient/identifier","examples":["shop/ana/order-1"]}}},"payload":{"$ref":"#/components/schemas/NotificationEvent"
        }},"deviceEvent":{"title":"What became of a device","description":"ce_type is carillon.device.NAME.v1.","traits":[{"$ref":
        "#/components/messageTraits/cloudEvent"}],"bindings":{"kafka":{"bindingVersion":"0.5.0","key":{"type":"string","description":
        "application/recipient/device"}}},"payload":{"$ref":"#/components/schemas/DeviceEvent"}},"channelEvent":{"title":
        "An application of a channel stopped, or goes on","description":"ce_type is carillon.channel.NAME.v1.","traits":[{"$ref":
        "#/components/messageTraits/cloudEvent"}],"payload":{"$ref":"#/components/schemas/ChannelEvent"}},"responseEvent":{"title":
        "What a person did with a notification","traits":[{"$ref":"#/components/messageTraits/cloudEvent"}],"bindings":{"kafka":{
        "bindingVersion":"0.5.0","key":{"type":"string","description":"application/recipient/identifier","examples":["shop/ana/order-1"
        ]}}},"payload":{"$ref":"#/components/schemas/ResponseEvent"}},"stateEntry":{"title":"What a center keeps of an identifier",
        "payload":{"$ref":"#/components/schemas/StateEntry"}},"stateMarker":{"title":"Where a partition is, under the key marker",
        "payload":{"$ref":"#/components/schemas/StateMarker"}},"deadLetter":{"title":"A record as it was","description":
        "Key, value and headers are those of the record.","contentType":"application/octet-stream","headers":{"type":"object",
        "properties":{"carillon-reason":{"type":"string"},"carillon-field":{"type":"string"},"carillon-omitted":{"type":"string"},
        "kafka_dlt-original-topic":{"type":"string"},"kafka_dlt-exception-message":{"type":"string"}},"required":["carillon-reason"]},
        "payload":{}}},"schemas":{"BusinessEvent":{"title":"Business event: a CloudEvent 1.0 in structured mode","type":"object",
        "properties":{"specversion":{"const":"1.0"},"id":{"type":"string","minLength":1,"maxLength":4096},"source":{"type":"string",
        "minLength":1,"maxLength":4096},"type":{"type":"string","minLength":1,"maxLength":4096},"subject":{"type":"string","minLength":1
        ,"maxLength":4096},"time":{"$ref":"#/components/schemas/timestamp"},"datacontenttype":{"type":"string","minLength":1,"maxLength"
        :4096},"dataschema":{"type":"string","minLength":1,"maxLength":4096},"data":true,"data_base64":{"type":"string","pattern":
        "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}},"required":["specversion","id","source","type"],"propertyNames"
        :{"anyOf":[{"const":"data_base64"},{"pattern":"^[a-z0-9]{1,20}$"}]},"additionalProperties":{"type":["string","number","boolean",
        "null"]},"not":{"required":["data","data_base64"]}},"Request":{"title":"Notification request: a value of the topic requests",
        "type":"object","properties":{"requestId":{"$ref":"#/components/schemas/requestId"},"application":{"$ref":
        "#/components/schemas/component"},"recipient":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":
        "#/components/schemas/component"},"version":{"$ref":"#/components/schemas/version"},"content":{"oneOf":[{"$ref":
        "#/components/schemas/content"},{"$ref":"#/components/schemas/existingContent"}]},"trigger":{"$ref":
        "#/components/schemas/trigger"},"expiration":{"$ref":"#/components/schemas/timestamp"},"collapseWindow":{"type":"number",
        "minimum":0,"maximum":86400},"channel":{"enum":["events","webhook","test","devices","apns","fcm","webpush"]},"quietHours":{
        "$ref":"#/components/schemas/quietHours"},"cap":{"$ref":"#/components/schemas/cap"},"digest":{"$ref":
        "#/components/schemas/digest","$comment":"Not with a trigger that repeats; the codec checks it."}},"required":["content"],
        "additionalProperties":false},"Removal":{"title":"Removal: a value of the topic requests","type":"object","properties":{
        "requestId":{"$ref":"#/components/schemas/requestId"},"application":{"$ref":"#/components/schemas/component"},"recipient":{
        "$ref":"#/components/schemas/component"},"identifier":{"$ref":"#/components/schemas/wholeOrIdentifier"},"version":{"$ref":
        "#/components/schemas/version"},"remove":{"enum":["pending","delivered","all"]}},"required":["remove"],"additionalProperties"
        :false},"Signal":{"title":"Signal: a value of the topic signals; ce_type says which","oneOf":[{"type":"object","properties":{
        "application":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":"#/components/schemas/component"},"requestId":{
        "$ref":"#/components/schemas/requestId"},"responseId":{"$ref":"#/components/schemas/requestId"},"device":{"$ref":
        "#/components/schemas/component"},"actionIdentifier":{"type":"string","description":
        "default, dismiss, or an action of the category.","minLength":1,"maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
        },"userText":{"type":"string","description":"At most 8 KiB of UTF-8; tabs and line breaks are the only control characters.",
        "maxLength":8192,"pattern":"^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$"}},"required":["identifier",
        "requestId","responseId","actionIdentifier"],"additionalProperties":false,"title":"carillon.signal.response.v1"},{"type":
        "object","properties":{"application":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":
        "#/components/schemas/component"},"requestId":{"$ref":"#/components/schemas/requestId"},"device":{"$ref":
        "#/components/schemas/component"},"receipt":{"enum":["received","presented","opened"]}},"required":["identifier","requestId",
        "device","receipt"],"additionalProperties":false,"title":"carillon.signal.receipt.v1"},{"type":"object","properties":{
        "application":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":"#/components/schemas/component"},"requestId":{
        "$ref":"#/components/schemas/requestId"},"device":{"$ref":"#/components/schemas/component"},"outcome":{"enum":["accepted",
        "rejected","unregistered","deferred"]},"reason":{"type":"string","maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}},"required":["identifier","requestId","device","outcome"],"additionalProperties":false,
        "title":"carillon.signal.report.v1"},{"type":"object","properties":{"application":{"description":
        "Only the regions of this application; without it, all of the recipient's.","$ref":"#/components/schemas/component"},"device":{
        "$ref":"#/components/schemas/component"},"latitude":{"type":"number","minimum":-90,"maximum":90},"longitude":{"type":"number",
        "minimum":-180,"maximum":180},"accuracy":{"type":"number","description":
        "The radius in metres of the circle in which the device is; 0 is exact, and so is a fix without it.","minimum":0,"maximum"
        :20037508},"at":{"$ref":"#/components/schemas/timestamp"}},"required":["device","latitude","longitude","at"],
        "additionalProperties":false,"title":"carillon.signal.location.v1"},{"type":"object","properties":{"application":{"$ref":
        "#/components/schemas/component"},"device":{"$ref":"#/components/schemas/component"},"state":{"enum":["foreground","background"
        ]},"badge":{"type":"integer","description":"The number that the app's icon shows now.","minimum":0,"maximum":1000000000},"at":{
        "$ref":"#/components/schemas/timestamp"}},"required":["device","state"],"additionalProperties":false,"title":
        "carillon.signal.app-state.v1"},{"type":"object","properties":{"application":{"$ref":"#/components/schemas/component"},"device"
        :{"$ref":"#/components/schemas/component"},"token":{"type":"string","minLength":1,"maxLength":4096,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"gone":{"$ref":"#/components/schemas/timestamp"}},"required":["device","gone"],
        "additionalProperties":false,"title":"carillon.signal.retirement.v1"}]},"Device":{"title":
        "Device registration: a value of the topic devices","type":"object","properties":{"platform":{"type":"string","pattern":
        "^[a-z0-9._-]{1,64}$"},"token":{"type":"string","minLength":1,"maxLength":4096,"pattern":"^[ -~]+$"},"kind":{"enum":["device",
        "broadcastChannel","complication","control","fileProvider","liveActivity","liveActivityStart","location","mdm","pushToTalk",
        "voip","widget"],"description":"What the token is for; device, the ordinary one, when it is missing."},"attributesType":{"type":
        "string","description":"Of liveActivityStart: the name of the app's ActivityAttributes that the token starts.","minLength":1,
        "maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"activity":{"type":"string","description":
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
        "activity"]},"then":{"properties":{"kind":{"const":"liveActivity"}},"required":["kind"]}}]},"TokenClaim":{"title":
        "Token claim: a value of the topic tokens, whose key is the hash of a token","type":"object","properties":{"application":{"$ref"
        :"#/components/schemas/component"},"recipient":{"$ref":"#/components/schemas/component"},"device":{"$ref":
        "#/components/schemas/component"},"writtenAt":{"$ref":"#/components/schemas/timestamp"},"released":{"type":"boolean",
        "description":"True when the owner has given the token up."}},"required":["application","recipient","device","writtenAt"]},
        "Categories":{"title":"Category set: a value of the topic categories","type":"object","properties":{"categories":{"type":"array"
        ,"items":{"type":"object","properties":{"identifier":{"type":"string","minLength":1,"maxLength":1024,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"options":{"type":"array","uniqueItems":true,"items":{"enum":["customDismissAction",
        "allowInCarPlay","hiddenPreviewsShowTitle","hiddenPreviewsShowSubtitle","allowAnnouncement"]}},"actions":{"type":"array",
        "maxItems":10,"items":{"$ref":"#/components/schemas/action"}},"response":{"enum":["forward","dismiss","keep"]},"presentation":{
        "$ref":"#/components/schemas/foreground"},"intentIdentifiers":{"type":"array","maxItems":32,"items":{"type":"string","minLength"
        :1,"maxLength":1024}},"hiddenPreviewsBodyPlaceholder":{"type":"string","maxLength":1024},"categorySummaryFormat":{"type":
        "string","maxLength":1024}},"required":["identifier"],"additionalProperties":false},"maxItems":256},"formerActions":{"type":
        "array","maxItems":1000,"description":"Of a record only: actions of sets that this one replaced, newest first.","items":{"$ref":
        "#/components/schemas/actionIdentifier"}}},"required":["categories"],"additionalProperties":false,"description":
        "An empty array clears the set. The codec also checks that identifiers are unique: of categories, and of actions across all categories."
        },"NotificationEvent":{"title":"Delivery event: a value of the topic deliveries; readers pass over fields they do not know",
        "type":"object","properties":{"requestId":{"$ref":"#/components/schemas/requestId"},"application":{"$ref":
        "#/components/schemas/component"},"recipient":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":
        "#/components/schemas/wholeOrIdentifier"},"closes":{"type":"boolean"},"occurrence":{"$ref":"#/components/schemas/timestamp"},
        "nextTriggerDate":{"$ref":"#/components/schemas/timestamp"},"until":{"$ref":"#/components/schemas/timestamp"},"first":{"$ref":
        "#/components/schemas/timestamp"},"last":{"$ref":"#/components/schemas/timestamp"},"count":{"type":"integer","minimum":0},
        "replaces":{"$ref":"#/components/schemas/requestId"},"by":{"$ref":"#/components/schemas/requestId"},"into":{"$ref":
        "#/components/schemas/requestId"},"known":{"enum":["delivered","unknown"]},"reason":{"$ref":"#/components/schemas/reason"},
        "channel":{"type":"string"},"device":{"type":"string"},"content":{"type":"object"},"expiration":{"$ref":
        "#/components/schemas/timestamp","description":"After this instant it is of no use to the devices."},"enrichment":{"type":
        "object","properties":{"milliseconds":{"type":"number","minimum":0},"attachments":{"type":"array","items":{"type":"object",
        "properties":{"identifier":{"type":"string"},"outcome":{"type":"string"},"kind":{"type":"string"},"type":{"type":"string"},
        "bytes":{"type":"integer","minimum":0},"width":{"type":"integer","minimum":0},"height":{"type":"integer","minimum":0},"digest":{
        "type":"string"},"url":{"type":"string"},"reason":{"type":"string"}},"required":["identifier","outcome"]}},"enrichers":{"type":
        "array","items":{"type":"object","properties":{"name":{"type":"string"},"outcome":{"enum":["applied","failed","timed-out",
        "skipped"]},"reason":{"type":"string"},"milliseconds":{"type":"integer","minimum":0}},"required":["name","outcome"]}},"content"
        :{"enum":["enriched","best-attempt","original"]},"reason":{"type":"string"}}},"devices":{"type":"array","items":{"type":"object"
        ,"properties":{"device":{"type":"string"},"platform":{"type":"string","description":
        "With deliveries.registrations, as the next four."},"token":{"type":"string"},"kind":{"type":"string","description":
        "What the token is for, unless it is the ordinary one."},"environment":{"enum":["production","development"]},"bundleIdentifier"
        :{"type":"string"},"outcome":{"enum":["accepted","suppressed","rejected","retrying","revoked","requested","overwritten",
        "impossible"],"description":"In a removed event what became of the device; without it the gateway removes."},"reduced":{"type":
        "array","description":"Of what it got less, because all of it was too large.","items":{"enum":["body","attachments"]}},
        "presentation":{"type":"array","items":{"$ref":"#/components/schemas/delivery-event-presentation"}},"badge":{"type":"integer",
        "minimum":0},"reason":{"$ref":"#/components/schemas/reason"},"locale":{"type":"string"},"localization":{"type":"string",
        "description":"Which of the content's localizations the device gets; missing for the texts of the content itself."},
        "interruptionLevel":{"enum":["passive","active","timeSensitive","critical"]},"decidedBy":{"type":"string","description":
        "Who decided the presentation, where the app is in the foreground."}},"required":["device"]}},"actions":{"type":"array","items"
        :{"$ref":"#/components/schemas/delivery-event-action"}},"thread":{"type":"object","properties":{"identifier":{"type":"string"},
        "count":{"type":"integer","minimum":1},"update":{"type":"boolean"}},"required":["identifier","count","update"]},"outcome":{
        "enum":["accepted","rejected","unregistered","deferred","revoked","requested","overwritten","impossible"]},"reduced":{"type":
        "array","description":"Of what it got less, because all of it was too large.","items":{"enum":["body","attachments"]}},"detail"
        :{"type":"string"},"late":{"type":"boolean"},"omitted":{"type":"array","description":
        "What was left out, because the event did not fit a record.","items":{"enum":["enrichment","actions","registrations","devices"
        ]}},"inDoubt":{"type":"boolean"}},"required":["requestId","application","recipient","identifier","closes"]},"DeviceEvent":{
        "title":"Device event: a value of the topic deliveries; readers pass over fields they do not know","type":"object","properties"
        :{"application":{"$ref":"#/components/schemas/component"},"recipient":{"$ref":"#/components/schemas/component"},"device":{"$ref"
        :"#/components/schemas/component"},"platform":{"type":"string"},"kind":{"type":"string","description":
        "What its token is for, unless it is the ordinary one: as in a registration."},"token":{"type":"string","description":
        "Of a retired device, as it was registered; with deliveries.registrations."},"environment":{"enum":["production","development"]}
        ,"bundleIdentifier":{"type":"string"},"at":{"$ref":"#/components/schemas/timestamp"},"reason":{"description":
        "Why a device was retired: a reason code.","type":"string"},"shows":{"type":"array","description":
        "Identifiers of notifications that a retired device may still show.","items":{"$ref":"#/components/schemas/component"}}},
        "required":["application","recipient","device","at"]},"ChannelEvent":{"title":
        "Channel event: a value of the topic deliveries; readers pass over fields they do not know","type":"object","properties":{
        "channel":{"type":"string"},"application":{"$ref":"#/components/schemas/component"},"environment":{"enum":["production",
        "development"],"description":"Whose credentials they are; missing when that makes no difference."},"instance":{"type":"string",
        "description":"The instance of the consumer service that says so: each finds out by itself."},"at":{"$ref":
        "#/components/schemas/timestamp"},"reason":{"type":"string","description":"Why a channel has stopped, for people."}},"required"
        :["channel","application","at"]},"ResponseEvent":{"title":
        "Response event: a value of the topic responses; readers pass over fields they do not know","type":"object","properties":{
        "responseId":{"$ref":"#/components/schemas/requestId"},"requestId":{"$ref":"#/components/schemas/requestId"},"application":{
        "$ref":"#/components/schemas/component"},"recipient":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":
        "#/components/schemas/component"},"device":{"$ref":"#/components/schemas/component"},"actionIdentifier":{"type":"string",
        "minLength":1,"maxLength":256},"userText":{"type":"string"},"matched":{"type":"boolean","description":
        "False when the notification is no longer kept."},"categoryIdentifier":{"type":"string","maxLength":1024},"content":{"type":
        "object"},"omitted":{"type":"array","description":"What was left out, because the event did not fit a record.","items":{"enum":[
        "content"]}}},"required":["responseId","requestId","application","recipient","identifier","actionIdentifier","matched"]},
        "StateEntry":{"title":
        "State entry: what a notification center keeps of one identifier, under the notification's key in the topic state","type":
        "object","properties":{"form":{"type":"integer","minimum":1},"touched":{"$ref":"#/components/schemas/timestamp","description":
        "When the entry last changed; 9999-12-31T23:59:59.999Z in a recipient's own entry with regions."},"due":{"$ref":
        "#/components/schemas/timestamp"},"offset":{"type":"integer","minimum":-1},"life":{"type":"integer","description":
        "Which life of requests the offset is of; 0 when it is missing.","minimum":0},"signals":{"type":"object","description":
        "The last record of signals that was applied, as offset and life are of requests.","properties":{"offset":{"type":"integer",
        "minimum":-1},"life":{"type":"integer","minimum":0}},"required":["offset"]},"version":{"type":"object","properties":{"number":{
        "type":"integer","minimum":0},"by":{"type":"string","minLength":1,"maxLength":128}},"required":["number","by"]},"pending":{
        "type":"object","properties":{"requestId":{"type":"string","minLength":1,"maxLength":128},"due":{"$ref":
        "#/components/schemas/timestamp"},"timer":{"oneOf":[{"enum":["held","turn","digest"]},{"type":"object","description":
        "It waits for the end of a digest's window, and has the occurrence of its trigger.","properties":{"digest":{"const":true},
        "occurrence":{"$ref":"#/components/schemas/timestamp"}},"required":["digest","occurrence"]},{"type":"object","properties":{
        "interval":{"type":"integer","minimum":1},"anchor":{"$ref":"#/components/schemas/timestamp"},"occurrence":{"$ref":
        "#/components/schemas/timestamp"},"repeats":{"type":"boolean"},"misfire":{"enum":["once","next","drop"]},"jitter":{"type":
        "integer","minimum":0}},"required":["interval","anchor","occurrence"]},{"type":"object","description":
        "From form 3 on; from form 8 on when a component has several values.","properties":{"trigger":{"type":"object","description":
        "A calendar trigger as in a request, with its time zone.","properties":{"type":{"const":"calendar"}},"required":["type",
        "dateComponents","timeZone"]},"anchor":{"$ref":"#/components/schemas/timestamp"},"occurrence":{"$ref":
        "#/components/schemas/timestamp"},"offset":{"type":"integer","description":
        "Seconds east of UTC with which the occurrence was planned.","minimum":-89999,"maximum":93599},"floats":{"type":"boolean",
        "description":"The request's trigger named no zone: it follows the zone of the recipient."}},"required":["trigger","anchor",
        "occurrence","offset"]},{"type":"object","description":"From form 4 on.","properties":{"trigger":{"type":"object","description":
        "A location trigger as in a request.","properties":{"type":{"const":"location"},"region":{"type":"object","properties":{
        "latitude":{"type":"number","minimum":-90,"maximum":90},"longitude":{"type":"number","minimum":-180,"maximum":180},"radius":{
        "type":"number","exclusiveMinimum":0,"maximum":20037508}},"required":["latitude","longitude","radius"]}},"required":["type",
        "region"]},"last":{"$ref":"#/components/schemas/timestamp","description":"When the last crossing was that counted."},"crossed":{
        "type":"boolean","description":"That crossing is not sent yet."}},"required":["trigger"]}]},"expiration":{"$ref":
        "#/components/schemas/timestamp"},"channel":{"description":"The channel that the request names. From form 5 on.","enum":[
        "events","webhook","test","devices","apns","fcm","webpush"]},"inDoubt":{"type":"boolean"},"traceparent":{"type":"string"},
        "tracestate":{"type":"string"},"content":{"type":"object"},"round":{"type":"integer","minimum":0,"description":
        "How often it was taken away from devices that may have shown it, before it was sent. From form 7 on."}},"required":["requestId"
        ,"timer","content"]},"sending":{"type":"object","properties":{"requestId":{"type":"string","minLength":1,"maxLength":128},
        "occurrence":{"$ref":"#/components/schemas/timestamp"},"attempt":{"type":"integer","minimum":1},"since":{"$ref":
        "#/components/schemas/timestamp"},"until":{"$ref":"#/components/schemas/timestamp"},"begun":{"description":
        "When the first attempt began, once it has ended.","$ref":"#/components/schemas/timestamp"},"closes":{"type":"boolean"},
        "expiration":{"$ref":"#/components/schemas/timestamp"},"channel":{"description":
        "The channel that the request names. From form 5 on.","enum":["events","webhook","test","devices","apns","fcm","webpush"]},
        "inDoubt":{"type":"boolean"},"cancelledBy":{"type":"string","minLength":1,"maxLength":128},"recalledBy":{"type":"string",
        "minLength":1,"maxLength":128},"traceparent":{"type":"string"},"tracestate":{"type":"string"},"content":{"type":"object"},
        "round":{"type":"integer","minimum":0,"description":"From form 7 on."},"devices":{"type":"array","items":{"type":"string"},
        "description":"To which it is addressed; missing when none is known."},"closed":{"type":"boolean","description":
        "It was delivered to some of its devices; the others are still being tried. From form 7 on."}},"required":["requestId"],
        "description":"A notification on its way. With since or until: of its only operation; forms up to 6 have no other.","oneOf":[{
        "required":["since"]},{"required":["until"]}]},"delivered":{"type":"object","properties":{"requestId":{"type":"string",
        "minLength":1,"maxLength":128},"channel":{"description":"The channel that the request names. From form 5 on.","enum":["events",
        "webhook","test","devices","apns","fcm","webpush"]},"at":{"$ref":"#/components/schemas/timestamp"},"round":{"type":"integer",
        "minimum":0,"description":"From form 7 on."}},"required":["requestId","at"]},"screen":{"type":"object","description":
        "What devices show otherwise than delivered says, and what is done about it. From form 7 on.","properties":{"targets":{"type":
        "array","items":{"type":"object","properties":{"channel":{"type":"string"},"devices":{"type":"array","items":{"type":"string"},
        "description":"Missing for all that the gateway knows."},"sure":{"$ref":"#/components/schemas/showing","description":
        "What they show if none of maybes; missing for nothing."},"maybes":{"type":"array","maxItems":8,"items":{"$ref":
        "#/components/schemas/showing"},"description":"What attempts without an answer may have put there; the oldest first."},"refused"
        :{"$ref":"#/components/schemas/showing"},"left":{"type":"boolean","description":
        "They go on showing what they showed when they refused."},"reduced":{"type":"array","items":{"type":"string"},"description":
        "Of what that they show they got less."}},"required":["channel"]}},"operations":{"type":"array","items":{"type":"object",
        "properties":{"show":{"$ref":"#/components/schemas/showing","description":"Missing for a removal."},"quiet":{"type":"boolean"},
        "channel":{"type":"string"},"devices":{"type":"array","items":{"type":"string"}},"removes":{"type":"array","items":{"$ref":
        "#/components/schemas/showing"}},"attempt":{"type":"integer","minimum":1},"since":{"$ref":"#/components/schemas/timestamp"},
        "until":{"$ref":"#/components/schemas/timestamp"},"begun":{"$ref":"#/components/schemas/timestamp"},"time":{"$ref":
        "#/components/schemas/timestamp"},"cause":{"type":"string","minLength":1,"maxLength":128},"id":{"type":"string"},"timestamp":{
        "type":"integer","description":"Of the pushes for a Live Activity, in seconds since 1970.","minimum":0},"awaitsToken":{"type":
        "boolean","description":"It waits for the token of the Live Activity that its device shows."}},"required":["channel","time"],
        "oneOf":[{"required":["since"]},{"required":["until"]}]}},"removal":{"type":"object","description":
        "A removal of which something is still to be told.","properties":{"showing":{"$ref":"#/components/schemas/showing"},"by":{"type"
        :"string","minLength":1,"maxLength":128},"left":{"type":"string","description":"The device that it has left already."},"channel"
        :{"type":"string"},"devices":{"type":"array","items":{"type":"object","properties":{"device":{"type":"string"},"outcome":{"enum"
        :["revoked","requested","overwritten","impossible"]},"reason":{"type":"string"}},"required":["device"]}},"told":{"type":
        "boolean","description":"Its event was published."},"dismissalDate":{"$ref":"#/components/schemas/timestamp","description":
        "When a Live Activity disappears after its end."}},"required":["showing","by","channel"]}}},"known":{"type":"string",
        "description":
        "32 characters of base64url for each closed request: the 16 bytes of its UUID, then the 8 of when it closed in milliseconds since 1970, big-endian."
        ,"pattern":"^([A-Za-z0-9_-]{32})*$"},"knownTexts":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string",
        "minLength":1,"maxLength":128},"closed":{"$ref":"#/components/schemas/timestamp"}},"required":["id","closed"]}},"removals":{
        "type":"array","description":
        "Of a recipient's own entry, under the key with an empty identifier: removals of everything the recipient has, with their offsets in requests; -1 for one of an earlier life of the topic."
        ,"items":{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":128},"offset":{"type":"integer",
        "minimum":-1},"closed":{"$ref":"#/components/schemas/timestamp"}},"required":["id","offset","closed"]}},"devices":{"type":
        "array","description":"Of a recipient's own entry: the last fix of each device. From form 4 on.","maxItems":16,"items":{"type":
        "object","properties":{"device":{"type":"string"},"at":{"$ref":"#/components/schemas/timestamp"}},"required":["device","at"]}},
        "regions":{"type":"array","description":"Of a recipient's own entry: the regions that notifications wait for. From form 4 on.",
        "items":{"type":"object","properties":{"identifier":{"type":"string"},"requestId":{"type":"string","minLength":1,"maxLength"
        :128},"trigger":{"type":"object","description":"A location trigger as in a request.","properties":{"type":{"const":"location"},
        "region":{"type":"object","properties":{"latitude":{"type":"number","minimum":-90,"maximum":90},"longitude":{"type":"number",
        "minimum":-180,"maximum":180},"radius":{"type":"number","exclusiveMinimum":0,"maximum":20037508}},"required":["latitude",
        "longitude","radius"]}},"required":["type","region"]},"sides":{"type":"string","description":
        "The side of each of the devices: inside, outside, or not known yet.","pattern":"^[io-]*$"}},"required":["identifier",
        "requestId","trigger"]}}},"required":["form"],"if":{"properties":{"form":{"const":1}}},"then":{"properties":{"pending":{
        "required":["due"]}}}},"StateMarker":{"title":
        "State marker: the value under the key marker of each partition of the topic state","type":"object","properties":{"form":{"type"
        :"integer","minimum":1},"offsets":{"type":"object","additionalProperties":{"type":"integer","minimum":0}},"replay":{"type":
        "object","additionalProperties":{"type":"integer","minimum":0}},"replayEnd":{"type":"object","additionalProperties":{"type":
        "integer","minimum":0}},"lives":{"type":"object","additionalProperties":{"type":"integer","minimum":0}},"wallTime":{"$ref":
        "#/components/schemas/timestamp"},"partitions":{"type":"integer","minimum":1,"maximum":2147483647},"timeZoneDataVersion":{"type"
        :"string"},"firedThrough":{"$ref":"#/components/schemas/timestamp"},"lineage":{"type":"string"},"locatedApplications":{"type":
        "array","description":"The applications with location triggers in the partition.","items":{"type":"string","minLength":1}}},
        "required":["form","offsets","wallTime","partitions","timeZoneDataVersion"]},"timestamp":{"type":"string","description":
        "RFC 3339; written in UTC with milliseconds.","pattern":
        "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
        },"component":{"type":"string","description":
        "Application, recipient or identifier: 1 to 256 bytes of UTF-8, no control characters.","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"requestId":{"type":"string","description":
        "A UUID, or other text of 1 to 128 bytes of UTF-8.","minLength":1,"maxLength":128,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"version":{"type":"integer","minimum":0,"maximum":9223372036854775807},"localization":{
        "type":"object","properties":{"key":{"type":"string","minLength":1,"maxLength":1024},"arguments":{"type":"array","maxItems":32,
        "items":{"type":"string"}}},"required":["key"],"additionalProperties":false},"sound":{"oneOf":[{"type":"string","minLength":1,
        "maxLength":1024},{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":1024},"critical":{"type":
        "boolean"},"volume":{"type":"number","minimum":0,"maximum":1}},"additionalProperties":false}]},"attachment":{"type":"object",
        "properties":{"identifier":{"type":"string","minLength":1,"maxLength":256,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
        "$comment":"Unique within the notification; the codec checks it."},"url":{"type":"string","maxLength":2048,"pattern":
        "^[Hh][Tt][Tt][Pp][Ss]?://([A-Za-z0-9_-][A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]{2,}\\])(:[0-9]{1,5})?([/?#][!#-;=?-\\[\\]_a-z~]*)?$"},
        "options":{"type":"object","properties":{"typeHint":{"type":"string","minLength":1,"maxLength":1024},"thumbnailHidden":{"type":
        "boolean"},"thumbnailClippingRect":{"type":"object","properties":{"x":{"type":"number","minimum":0,"maximum":1},"y":{"type":
        "number","minimum":0,"maximum":1},"width":{"type":"number","minimum":0,"maximum":1},"height":{"type":"number","minimum":0,
        "maximum":1}},"required":["x","y","width","height"],"additionalProperties":false},"thumbnailTime":{"type":"number","minimum":0}}
        ,"additionalProperties":false}},"required":["identifier","url"],"additionalProperties":false},"presentation":{"description":
        "`alert` is banner and list.","enum":["banner","list","sound","badge","alert"]},"foreground":{"description":
        "What is shown while the app is in the foreground; null: a delegate without the method, nothing.","anyOf":[{"type":"array",
        "uniqueItems":true,"items":{"$ref":"#/components/schemas/presentation"}},{"type":"null"}]},"content":{"type":"object",
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
        "May contain {{count}}, {{thread}}, {{category}}, {{titles}}, {{first.title}}, {{last.title}}, {{last.body}}."},
        "wholeOrIdentifier":{"type":"string","description":"Empty: all of the recipient's.","maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"setting":{"enum":["notSupported","disabled","enabled"]},"action":{"type":"object",
        "properties":{"identifier":{"$ref":"#/components/schemas/actionIdentifier"},"title":{"type":"string","minLength":1,"maxLength"
        :1024},"options":{"type":"array","uniqueItems":true,"items":{"enum":["authenticationRequired","destructive","foreground"]}},
        "textInput":{"type":"object","properties":{"buttonTitle":{"type":"string","maxLength":1024},"placeholder":{"type":"string",
        "maxLength":1024}},"additionalProperties":false},"icon":{"type":"string","minLength":1,"maxLength":1024}},"required":[
        "identifier","title"],"additionalProperties":false},"actionIdentifier":{"type":"string","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$","not":{"enum":["default","dismiss"]}},"reason":{"enum":["invalid","unknown-field",
        "unknown-trigger","too-large","not-utf8","misrouted","in-future","no-rule","missing-variable","gap","unsupported-form",
        "not-authorized","disabled","no-device","capped","unregistered","payload-too-large","rejected","gave-up","not-enriched","moved",
        "replaced","unknown-action","collapse-window","quiet-hours","digest","too-many-recipients","not-found","method-not-allowed",
        "unsupported-media-type","unauthenticated","forbidden","receive-timeout","overloaded","unavailable","internal"]},
        "delivery-event-presentation":{"enum":["badge","sound","list","banner"]},"delivery-event-action":{"type":"object","properties":{
        "identifier":{"type":"string","minLength":1,"maxLength":256},"title":{"type":"string"},"options":{"type":"array","uniqueItems"
        :true,"items":{"enum":["authenticationRequired","destructive","foreground"]}},"textInput":{"type":"object","properties":{
        "buttonTitle":{"type":"string"},"placeholder":{"type":"string"}},"additionalProperties":false},"icon":{"type":"string",
        "minLength":1,"maxLength":1024}},"required":["identifier","title"],"additionalProperties":false},"showing":{"type":"object",
        "properties":{"requestId":{"type":"string","minLength":1,"maxLength":128},"occurrence":{"$ref":"#/components/schemas/timestamp"}
        ,"round":{"type":"integer","minimum":0},"former":{"type":"boolean","description":
        "It may have been sent under an id of an older version."}},"required":["requestId"]}}}}
        """#
}
