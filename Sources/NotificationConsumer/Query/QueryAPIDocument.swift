// swift-format-ignore-file
// Made by deploy/api/documents.py from deploy/api/openapi-queries.yaml; do not edit.

/// The OpenAPI document of the queries of the consumer service.
enum QueryAPIDocument {
    /// JSON.
    static let json = #"""
        {"openapi":"3.1.0","info":{"title":"Carillon, queries of the consumer service","version":"0.1.0","summary":
        "What recipients have, and the media of enriched notifications.","description":
        "An instance answers for the partitions that it owns; for others it answers 421. It is there with queries.enabled.","license":{
        "name":"Apache 2.0","identifier":"Apache-2.0"}},"servers":[{"url":"http://127.0.0.1:8083"}],"security":[{},{"token":[]}],"tags"
        :[{"name":"notifications"},{"name":"devices"},{"name":"media"},{"name":"contracts"}],"x-problems":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"421":{"$ref":"#/components/responses/Problem"},"431":{"$ref":
        "#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"
        },"503":{"$ref":"#/components/responses/Unavailable"}},"paths":{"/v1/recipients/{recipient}/notifications":{"parameters":[{
        "$ref":"#/components/parameters/recipient"}],"get":{"operationId":"listNotifications","tags":["notifications"],"summary":
        "A page of the recipient's notifications.","parameters":[{"$ref":"#/components/parameters/application"},{"$ref":
        "#/components/parameters/state"},{"$ref":"#/components/parameters/occurrences"},{"name":"limit","in":"query","schema":{"type":
        "integer","minimum":1,"maximum":1000,"default":100}},{"name":"after","in":"query","description":"The next of the page before.",
        "schema":{"type":"string","pattern":"^[0-9]{1,18}$"}}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{
        "$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"421":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"200":{"description":"A page; it may be short or empty while it has a next one.","content"
        :{"application/json":{"schema":{"type":"object","properties":{"notifications":{"type":"array","items":{"$ref":
        "#/components/schemas/ListedNotification"}},"next":{"type":"string","pattern":"^[0-9]+$"}},"required":["notifications"],
        "additionalProperties":false}}}}}}},"/v1/recipients/{recipient}/notifications/{identifier}":{"parameters":[{"$ref":
        "#/components/parameters/recipient"},{"name":"identifier","in":"path","required":true,"schema":{"$ref":
        "#/components/schemas/component"}}],"get":{"operationId":"getNotification","tags":["notifications"],"summary":
        "What is under an identifier.","parameters":[{"$ref":"#/components/parameters/application"},{"$ref":
        "#/components/parameters/state"},{"$ref":"#/components/parameters/occurrences"}],"responses":{"400":{"$ref":
        "#/components/responses/Problem"},"401":{"$ref":"#/components/responses/Unauthenticated"},"403":{"$ref":
        "#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"
        },"417":{"$ref":"#/components/responses/Problem"},"421":{"$ref":"#/components/responses/Problem"},"431":{"$ref":
        "#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"
        },"503":{"$ref":"#/components/responses/Unavailable"},"404":{"$ref":"#/components/responses/Problem"},"200":{"description":
        "It is there.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/ListedNotification"}}}}}}},
        "/v1/recipients/{recipient}/devices":{"parameters":[{"$ref":"#/components/parameters/recipient"}],"get":{"operationId":
        "listDevices","tags":["devices"],"summary":"The recipient's devices, retired ones until they are forgotten.","parameters":[{
        "$ref":"#/components/parameters/application"}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"421":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"200":{"description":"All of them.","content":{"application/json":{"schema":{"type":
        "object","properties":{"devices":{"type":"array","items":{"$ref":"#/components/schemas/ListedDevice"}}},"required":["devices"],
        "additionalProperties":false}}}}}}},"/v1/recipients/{recipient}/devices/{device}":{"parameters":[{"$ref":
        "#/components/parameters/recipient"},{"name":"device","in":"path","required":true,"schema":{"$ref":
        "#/components/schemas/component"}}],"get":{"operationId":"getDevice","tags":["devices"],"summary":"One of them.","parameters":[{
        "$ref":"#/components/parameters/application"}],"responses":{"400":{"$ref":"#/components/responses/Problem"},"401":{"$ref":
        "#/components/responses/Unauthenticated"},"403":{"$ref":"#/components/responses/Problem"},"408":{"$ref":
        "#/components/responses/Problem"},"414":{"$ref":"#/components/responses/Problem"},"417":{"$ref":"#/components/responses/Problem"
        },"421":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"500":{"$ref":
        "#/components/responses/Problem"},"501":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"},"404":{"$ref":"#/components/responses/Problem"},"200":{"description":"It is known.",
        "content":{"application/json":{"schema":{"$ref":"#/components/schemas/ListedDevice"}}}}}}},"/media/{file}":{"get":{"operationId"
        :"getMedium","tags":["media"],"security":[{}],"summary":"A medium of an enriched notification; there with enrichment.enabled.",
        "parameters":[{"name":"file","in":"path","required":true,"schema":{"type":"string","pattern":"^[0-9a-f]{64}\\.[a-z0-9]+$"}},{
        "name":"expires","in":"query","description":"With keys links are signed.","schema":{"type":"string"}},{"name":"signature","in":
        "query","schema":{"type":"string"}},{"name":"Range","in":"header","schema":{"type":"string"}},{"name":"If-None-Match","in":
        "header","schema":{"type":"string"}}],"responses":{"200":{"description":"The medium.","content":{"*/*":{"schema":{"type":
        "string","contentMediaType":"application/octet-stream"}}}},"206":{"description":"A part.","content":{"*/*":{"schema":{"type":
        "string","contentMediaType":"application/octet-stream"}}}},"304":{"description":"The client has it."},"400":{"$ref":
        "#/components/responses/Problem"},"403":{"$ref":"#/components/responses/Problem"},"404":{"$ref":"#/components/responses/Problem"
        },"416":{"$ref":"#/components/responses/Problem"},"500":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"}}}},"/openapi.json":{"get":{"operationId":"getOpenAPI","tags":["contracts"],"security":[{}]
        ,"summary":"This document.","responses":{"200":{"description":"The document.","content":{"application/json":{"schema":{"type":
        "object"}}}},"400":{"$ref":"#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},"414":{"$ref":
        "#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"}}}},"/asyncapi.json":{"get":{"operationId":"getAsyncAPI","tags":["contracts"],"security"
        :[{}],"summary":"The document of the topics.","responses":{"200":{"description":"The document.","content":{"application/json":{
        "schema":{"type":"object"}}}},"400":{"$ref":"#/components/responses/Problem"},"408":{"$ref":"#/components/responses/Problem"},
        "414":{"$ref":"#/components/responses/Problem"},"431":{"$ref":"#/components/responses/Problem"},"503":{"$ref":
        "#/components/responses/Unavailable"}}}}},"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer",
        "description":"A token of http.tokens.file with the role query, or for notifications a recipient token (JWT)."}},"parameters":{
        "recipient":{"name":"recipient","in":"path","required":true,"schema":{"$ref":"#/components/schemas/component"}},"application":{
        "name":"application","in":"query","description":"application.default without it.","schema":{"$ref":
        "#/components/schemas/component"}},"state":{"name":"state","in":"query","description":"Both sets without it.","schema":{"enum":[
        "pending","delivered"]}},"occurrences":{"name":"occurrences","in":"query","description":
        "So many of the next dates of a repeating notification.","schema":{"type":"integer","minimum":0,"maximum":100,"default":0}}},
        "responses":{"Problem":{"description":"The call is refused; reason says why.","content":{"application/problem+json":{"schema":{
        "$ref":"#/components/schemas/Problem"}}}},"Unauthenticated":{"description":"A token is missing or wrong.","headers":{
        "WWW-Authenticate":{"required":true,"schema":{"type":"string"}}},"content":{"application/problem+json":{"schema":{"$ref":
        "#/components/schemas/Problem"}}}},"Unavailable":{"description":"Repeat the call later.","headers":{"Retry-After":{"description"
        :"Seconds.","schema":{"type":"integer"}}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"
        }}}}},"schemas":{"component":{"type":"string","description":
        "Application, recipient or identifier: 1 to 256 bytes of UTF-8, no control characters.","minLength":1,"maxLength":256,"pattern":
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},"instant":{"type":"string","description":"RFC 3339, in UTC with milliseconds.","format":
        "date-time"},"ListedNotification":{"type":"object","properties":{"application":{"$ref":"#/components/schemas/component"},
        "recipient":{"$ref":"#/components/schemas/component"},"identifier":{"$ref":"#/components/schemas/component"},"pending":{"type":
        "object","properties":{"requestId":{"type":"string"},"waitsFor":{"enum":["time","region","collapse-window","quiet-hours",
        "digest","sending"]},"nextTriggerDate":{"$ref":"#/components/schemas/instant"},"occurrences":{"type":"array","items":{"$ref":
        "#/components/schemas/instant"},"maxItems":100},"expiration":{"$ref":"#/components/schemas/instant"},"content":{"type":"object"
        }},"required":["requestId","waitsFor","content"],"additionalProperties":false},"sending":{"type":"object","description":
        "A channel was given it and has not accepted it yet; it counts as pending.","properties":{"requestId":{"type":"string"},
        "waitsFor":{"const":"quiet-hours"},"occurrence":{"$ref":"#/components/schemas/instant"},"attempt":{"type":"integer","minimum":1}
        ,"nextAttempt":{"$ref":"#/components/schemas/instant"},"expiration":{"$ref":"#/components/schemas/instant"},"content":{"type":
        "object"}},"required":["requestId","attempt","content"],"additionalProperties":false},"delivered":{"type":"object","properties"
        :{"requestId":{"type":"string"},"occurrence":{"$ref":"#/components/schemas/instant"},"deliveredAt":{"$ref":
        "#/components/schemas/instant"}},"required":["requestId","deliveredAt"],"additionalProperties":false}},"required":["application"
        ,"recipient","identifier"],"additionalProperties":false},"ListedDevice":{"type":"object","description":
        "The registration, and what is known of the device. Push tokens need the role signal, too.","properties":{"device":{"$ref":
        "#/components/schemas/component"},"badge":{"type":"integer"},"foreground":{"const":true},"retiredAt":{"$ref":
        "#/components/schemas/instant"},"platform":{"type":"string"},"token":{"type":"string"},"kind":{"type":"string"},"environment":{
        "enum":["production","development"]},"bundleIdentifier":{"type":"string"},"locale":{"type":"string"},"timeZone":{"type":"string"
        },"appVersion":{"type":"string"},"authorizationStatus":{"enum":["notDetermined","denied","authorized","provisional","ephemeral"
        ]},"settings":{"type":"object"},"registeredAt":{"$ref":"#/components/schemas/instant"}},"required":["device","platform"],
        "additionalProperties":false},"Problem":{"type":"object","description":"RFC 9457.","properties":{"type":{"type":"string",
        "pattern":"^urn:carillon:problem:"},"title":{"type":"string"},"status":{"type":"integer","minimum":400,"maximum":599},"detail":{
        "type":"string"},"reason":{"type":"string","description":"A code to compare."},"field":{"type":"string","description":
        "The part of the input that is wrong."},"partition":{"type":"integer","minimum":0,"description":"That another instance owns."}},
        "required":["type","title","status","detail","reason"],"additionalProperties":false}}}}
        """#
}
