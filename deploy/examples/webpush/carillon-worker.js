// The service worker of a page that gets notifications of Carillon: shows them, replaces and closes them, and tells what
// became of them. Safari shows them without it.
"use strict";

const sequence = shown => shown?.data?.carillon?.sequence ?? "";

// One after the other: a browser gives at once what came while it was off, and a removal closes only what is shown already.
let last = Promise.resolve();

self.addEventListener("push", event => {
  const message = event.data?.json() ?? {};
  const shown = last.then(() => received(message));
  last = shown.catch(() => {});
  // The next one does not wait for Carillon's answer.
  event.waitUntil(shown.then(origin => tell("receipts", origin, { receipt: "presented" })));
});

// What the notification that it has shown says of itself.
async function received(message) {
  // What was delivered after a removal stays.
  for (const [tag, removed] of Object.entries(message.carillon?.remove ?? {}))
    for (const shown of await self.registration.getNotifications({ tag }))
      if (sequence(shown) <= removed) shown.close();
  if (message.app_badge !== undefined) await self.navigator.setAppBadge?.(Number(message.app_badge));
  if (!message.notification) return;
  const { title, navigate, ...options } = message.notification;
  const links = Object.fromEntries((options.actions ?? []).map(({ action, navigate }) => [action, navigate ?? null]));
  options.data = { ...options.data, navigate, links };
  const [shown] = options.tag ? await self.registration.getNotifications({ tag: options.tag }) : [];
  // An older one that comes late does not take the place of a newer one.
  if (sequence(shown) > sequence(options)) return;
  await self.registration.showNotification(title, options);
  return options.data.carillon;
}

self.addEventListener("notificationclick", event => {
  const { carillon, navigate, links = {} } = event.notification.data ?? {};
  event.notification.close();
  const page = event.action ? links[event.action] : navigate;
  event.waitUntil(Promise.all([
    page ? self.clients.openWindow(page) : undefined,
    tell("responses", carillon, { actionIdentifier: event.action || "default", responseId: self.crypto.randomUUID() }),
  ]));
});

self.addEventListener("notificationclose", event => event.waitUntil(tell("responses", event.notification.data?.carillon,
  { actionIdentifier: "dismiss", responseId: self.crypto.randomUUID() })));

// With the access that the page has left: the recipient's path at Carillon, and a recipient token.
async function tell(what, origin, more) {
  const access = await (await (await self.caches.open("carillon")).match("/carillon-access"))?.json();
  if (!access || !origin) return;
  const { application, identifier, requestId, device } = origin;
  await fetch(`${access.url}/${what}?application=${encodeURIComponent(application)}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${access.token}` },
    body: JSON.stringify({ identifier, requestId, device, ...more }),
  }).catch(() => {});
}
