// The forms of the page: adding phones, subscribing this browser, sending.
import { subscribe } from "./carillon-subscribe.js";
import { element } from "./elements.js";
import { Carillon } from "./carillon.js";

const names = { apns: "iPhone", fcm: "Android" };

/** @param {object} page Of `phone.js`. */
export function startControls(page) {
  startAdding(page);
  startBrowser(page);
  startSending(page);
}

/** Handles the submission of a form, and says what went wrong. */
function onSubmit(form, say, action) {
  form.addEventListener("submit", async event => {
    event.preventDefault();
    try {
      await action(new FormData(form));
    } catch (error) {
      say(error.message);
    }
  });
}

function startAdding(page) {
  const form = document.getElementById("add");
  const { platforms } = page.setup;
  form.hidden = platforms.length === 0;
  form.elements.platform.append(...platforms.map(({ platform }) => element("option", { value: platform }, names[platform])));
  onSubmit(form, page.announce, async data => {
    const [platform, recipient, device] = ["platform", "recipient", "device"].map(name => data.get(name));
    const path = `/v1/phones/${platform}/${encodeURIComponent(recipient)}/${encodeURIComponent(device)}`;
    const { token, app } = await page.call("POST", path, {});
    const client = new Carillon({
      url: `/v1/recipients/${encodeURIComponent(recipient)}`, application: page.setup.application, device,
      token: () => page.token(recipient),
    });
    await client.register({ platform, token, bundleIdentifier: app, locale: navigator.language });
    localStorage.setItem(`phone ${platform} ${recipient} ${device}`, "{}");
    page.announce(`${names[platform]} ${device} of ${recipient} is added.`);
  });
}

function startBrowser(page) {
  const form = document.getElementById("browser");
  const state = document.getElementById("browser-state");
  if (!page.setup.browserKey || !("serviceWorker" in navigator) || !("PushManager" in window)) return;
  form.hidden = false;
  const say = text => { state.textContent = text; };
  const device = localStorage.getItem("browser") ?? `browser-${crypto.randomUUID().slice(0, 8)}`;
  localStorage.setItem("browser", device);
  const url = recipient => new URL(`/v1/recipients/${encodeURIComponent(recipient)}`, location.href).href;
  onSubmit(form, say, async data => {
    const recipient = data.get("recipient");
    say("Subscribing…");
    // Where no tokens are asked for, anything is one.
    const token = (await page.token(recipient)) ?? "none";
    const { application } = page.setup;
    const isOn = await subscribe({ key: page.setup.browserKey, url: url(recipient), application, device, token });
    say(isOn ? `Subscribed as ${device}.` : "Not subscribed: notifications are not allowed, or the service refused.");
  });
  form.elements.unsubscribe.addEventListener("click", async () => {
    const subscription = await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription();
    say((await subscription?.unsubscribe()) ? "Unsubscribed: the next notification retires this browser." : "Was not subscribed.");
  });
}

function startSending(page) {
  const form = document.getElementById("send");
  const state = document.getElementById("send-state");
  const say = text => { state.textContent = text; };
  const path = data => `/v1/recipients/${encodeURIComponent(data.get("recipient"))}/notifications/`
    + `${encodeURIComponent(data.get("identifier"))}?application=${encodeURIComponent(page.setup.application)}`;
  onSubmit(form, say, async data => {
    await page.call("PUT", path(data), request(data));
    page.follow(data.get("recipient"), data.get("identifier"));
    say("Sent.");
  });
  form.elements.remove.addEventListener("click", async () => {
    const data = new FormData(form);
    await page.call("DELETE", `${path(data)}&state=all`).then(() => say("Removed."), error => say(error.message));
  });
  form.elements.actions.addEventListener("click", async () => {
    await page.call("PUT", `/v1/categories?application=${encodeURIComponent(page.setup.application)}`, exampleCategories)
      .then(() => { say("Category ORDER: track, reply."); form.elements.category.value = "ORDER"; }, error => say(error.message));
    await page.loadCategories();
  });
}

/** What the form asks for, without what was left empty. */
function request(data) {
  const text = name => data.get(name)?.trim() || undefined;
  const number = name => (data.get(name) ? Number(data.get(name)) : undefined);
  const picture = text("picture");
  const seconds = number("seconds");
  return {
    channel: "devices",
    content: {
      title: text("title"), body: text("body"), threadIdentifier: text("thread"), categoryIdentifier: text("category"),
      interruptionLevel: text("level"), badge: number("badge"), sound: "default",
      ...(picture && { mutableContent: true, attachments: [{ identifier: "picture", url: picture }] }),
    },
    ...(seconds && { trigger: { type: "timeInterval", timeInterval: seconds } }),
  };
}

const exampleCategories = {
  categories: [{
    identifier: "ORDER",
    options: ["customDismissAction"],
    actions: [
      { identifier: "track", title: "Track", options: ["foreground"] },
      { identifier: "reply", title: "Reply", textInput: { buttonTitle: "Send", placeholder: "Your message" } },
    ],
  }],
};
