// Publishes, lists, cancels, and reads a problem, with the clients that are generated beside this file.

import {
  type BusinessEvent, Configuration, EventsApi, type Notification, NotificationsApi, type Problem, ResponseError,
} from "./carillon-producer/index.ts";
import * as queries from "./carillon-queries/index.ts";

const [producer, consumer] = Deno.args;
const configuration = new Configuration({ basePath: producer });
const events = new EventsApi(configuration);
const notifications = new NotificationsApi(configuration);
const listed = new queries.NotificationsApi(new queries.Configuration({ basePath: consumer }));
const recipient = `ana-${crypto.randomUUID()}`;

function expect(what: string, isSo: boolean, found: unknown) {
  if (!isSo) throw new Error(`${what}: ${JSON.stringify(found)}`);
}

async function pending(): Promise<Map<string, queries.ListedNotificationPending>> {
  const page = await listed.listNotifications({ recipient, application: "shop", state: queries.ListNotificationsStateEnum.Pending });
  return new Map(page.notifications.map((one) => [one.identifier, one.pending!]));
}

async function until(what: string, isSo: (found: Map<string, queries.ListedNotificationPending>) => boolean) {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await pending();
    if (isSo(found)) return found;
    expect(what, Date.now() < end, [...found]);
    await new Promise((done) => setTimeout(done, 100));
  }
}

const businessEvent: BusinessEvent = {
  specversion: "1.0", id: crypto.randomUUID(), source: "/generated", type: "com.example.test.later",
  data: { recipient, identifier: "by-event", title: "By an event" },
};
const receipt = await events.publishEvents({ businessEvent });
expect("an event", !Array.isArray(receipt) && receipt.id === businessEvent.id, receipt);

// Members of different kinds of one type: none is lost.
const notification: Notification = {
  content: { title: "On its way", sound: { name: "default", volume: 0.5 }, userInfo: { order: { number: 1001 } } },
  trigger: { type: "calendar", dateComponents: { hour: 8, minute: 30 }, timeZone: "Europe/Berlin", repeats: true },
};
const answer = await notifications.putNotification({ recipient, identifier: "order/1", notification });
const found = await until("both are pending", (found) => found.size === 2);
const order = found.get("order/1");
expect("its request", order?.requestId === answer.requestId, [...found]);
expect("it waits for its time, in Berlin", /^20.*T0[67]:30:00.000Z$/.test(order?.nextTriggerDate ?? ""), order);
const content = order?.content as Record<string, unknown>;
expect("its content", content.title === "On its way" && JSON.stringify(content.userInfo) === '{"order":{"number":1001}}', content);

await notifications.removeNotification({ recipient, identifier: "order/1", state: "pending" });
await until("it is cancelled", (found) => [...found.keys()].join() === "by-event");

try {
  const wrong: Notification = { content: { title: "No" }, trigger: { type: "timeInterval", timeInterval: -1 } };
  await notifications.putNotification({ recipient, identifier: "wrong", notification: wrong });
  throw new Error("a wrong input is accepted");
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  const problem: Problem = await error.response.json();
  expect("a wrong input's problem", error.response.status === 400 && problem.reason === "invalid", problem);
  expect("its field", problem.field === "trigger.timeInterval", problem);
}
