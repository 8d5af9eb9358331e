// The module of apps, with a service that is made up here: what it calls, when it calls again, and what it throws.
//
// usage: node app_module.mjs FILE
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const { Carillon, CarillonError } = await import(pathToFileURL(process.argv[2]));

/** An answer, as `fetch` gives it. */
const answer = (status, body, headers = {}) => new Response(body === undefined ? null : JSON.stringify(body), {
  status, headers: { "content-type": "application/json", ...headers },
});

/** A client, and the calls that it has made. */
function client(answers, more = {}) {
  const calls = [];
  const carillon = new Carillon({
    url: "https://shop.example/v1/recipients/ana%2F1", application: "a shop", device: "my phone", token: () => "t", pause: 1, ...more,
    fetch: async (url, { method, headers, body }) => {
      calls.push({ url, method, headers, body: body && JSON.parse(body) });
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    },
  });
  return { carillon, calls };
}

// A registration, with the token of that moment.
{
  let count = 0;
  const { carillon, calls } = client([answer(202, {}), answer(202, {})], { token: async () => `t${++count}` });
  await carillon.register({ platform: "webpush", token: "x" });
  await carillon.unregister();
  assert.deepEqual(calls[0], {
    url: "https://shop.example/v1/recipients/ana%2F1/devices/my%20phone?application=a+shop", method: "PUT",
    headers: { "content-type": "application/json", authorization: "Bearer t1" }, body: { platform: "webpush", token: "x" },
  });
  assert.equal(calls[1].method, "DELETE");
  assert.equal(calls[1].headers.authorization, "Bearer t2");
}

// A response has one id, however often it is sent; nothing of the origin but what counts goes along.
{
  const { carillon, calls } = client([new TypeError("no network"), answer(503, {}, { "retry-after": "0" }), answer(202, {})]);
  await carillon.respond({ identifier: "o", requestId: "r", sequence: "9" }, "reply", "Thank you");
  assert.equal(calls.length, 3);
  const bodies = calls.map(({ body }) => body);
  assert.deepEqual(bodies[0], bodies[2]);
  const { responseId, ...rest } = bodies[0];
  assert.match(responseId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, { identifier: "o", requestId: "r", device: "my phone", actionIdentifier: "reply", userText: "Thank you" });
}

// It gives up after its attempts, and at once where another one changes nothing.
{
  const { carillon, calls } = client(Array.from({ length: 9 }, () => answer(503, { detail: "busy" })), { attempts: 3 });
  await assert.rejects(carillon.report({ identifier: "o", requestId: "r" }, "presented"), { status: 503, message: "busy" });
  assert.equal(calls.length, 3);
  const refused = client([answer(400, { detail: "No such action.", reason: "unknown-action", field: "actionIdentifier" })]);
  await assert.rejects(refused.carillon.respond({ identifier: "o", requestId: "r" }, "x"),
    error => error instanceof CarillonError && error.reason === "unknown-action" && error.field === "actionIdentifier");
  assert.equal(refused.calls.length, 1);
}

// Pages are read one after the other, from where the queries are.
{
  const { carillon, calls } = client(
    [answer(200, { notifications: [{ identifier: "a" }], next: "n/1" }), answer(200, { notifications: [] , next: "n2" }),
      answer(200, { notifications: [{ identifier: "b" }] })], { queries: "https://queries.example/v1/recipients/ana", token: () => null });
  const found = [];
  for await (const { identifier } of carillon.notifications({ state: "delivered" })) found.push(identifier);
  assert.deepEqual(found, ["a", "b"]);
  assert.equal(calls[1].url, "https://queries.example/v1/recipients/ana/notifications?application=a+shop&state=delivered&after=n%2F1");
  assert.equal(calls[0].headers.authorization, undefined);
}

// What is not there is null.
{
  const { carillon } = client([answer(404, { reason: "not-found" })]);
  assert.equal(await carillon.notification("none"), null);
}

// Places and states.
{
  const { carillon, calls } = client([answer(202, {}), answer(202, {})]);
  await carillon.location({ latitude: 1, longitude: 2, accuracy: 3, at: new Date(0) });
  await carillon.appState("background", 0);
  assert.deepEqual(calls.map(({ body }) => body), [
    { device: "my phone", latitude: 1, longitude: 2, accuracy: 3, at: "1970-01-01T00:00:00.000Z" },
    { device: "my phone", state: "background", badge: 0 },
  ]);
}
