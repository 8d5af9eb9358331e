// The page's part: asks the person, subscribes this browser, and registers it with Carillon.
"use strict";

/**
 * Call it from a click, since browsers ask only then; and again at each visit, because subscriptions and tokens change.
 *
 * @param {object} options
 * @param {string} options.key What `carillon webpush keys` prints.
 * @param {string} options.url The recipient at Carillon: `https://push.shop.example/v1/recipients/ana`.
 * @param {string} options.application The application, as in your notifications.
 * @param {string} options.device A name of this browser that stays, at most 256 bytes.
 * @param {string} options.token A recipient token of your back end, as in the page on HTTP.
 * @param {string} [options.worker] Where the service worker is.
 * @returns {Promise<boolean>} Whether notifications arrive from now on.
 */
export async function subscribe({ key, url, application, device, token, worker = "/carillon-worker.js" }) {
  if ((await Notification.requestPermission()) !== "granted") return false;
  await (await caches.open("carillon")).put("/carillon-access", new Response(JSON.stringify({ url, token })));
  const { pushManager } = await navigator.serviceWorker.register(worker).then(() => navigator.serviceWorker.ready);
  const applicationServerKey = Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
  let subscription = await pushManager.getSubscription();
  // One of another key gets nothing.
  if (subscription && !sameBytes(subscription.options.applicationServerKey, applicationServerKey)) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const path = `${url}/devices/${encodeURIComponent(device)}?application=${encodeURIComponent(application)}`;
  const answer = await fetch(path, {
    method: "PUT",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ platform: "webpush", token: JSON.stringify(subscription), locale: navigator.language }),
  });
  return answer.ok;
}

function sameBytes(buffer, bytes) {
  const other = new Uint8Array(buffer ?? []);
  return other.length === bytes.length && other.every((byte, index) => byte === bytes[index]);
}
