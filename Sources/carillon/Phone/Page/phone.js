// The page: connects what happens to what is shown.
import { element } from "./elements.js";
import { PhoneScreen } from "./screen.js";
import { Timeline } from "./timeline.js";
import { startControls } from "./controls.js";

const byID = id => document.getElementById(id);
const timeline = new Timeline(byID("steps"), byID("filter"));
/** @type {Map<string, PhoneScreen>} */
const screens = new Map();

/** Calls the page's own service. */
async function call(method, path, body) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const isJSON = answer.headers.get("content-type")?.includes("json");
  const value = isJSON ? await answer.json() : null;
  if (!answer.ok) throw Object.assign(new Error(value?.detail ?? `status ${answer.status}`), { status: answer.status });
  return value;
}

const setup = await waitForSetup();
const tokens = new Map();

/** A recipient token, kept until a minute before its end. */
async function token(recipient) {
  if (!setup.tokens) return null;
  const known = tokens.get(recipient);
  if (known && known.until > Date.now()) return known.token;
  const { token, seconds } = await call("POST", "/v1/tokens", { recipient });
  tokens.set(recipient, { token, until: Date.now() + (seconds - 60) * 1000 });
  return token;
}

const page = {
  call,
  token,
  setup,
  categories: new Map(),
  announce(text) { byID("announcer").textContent = text; },
  follow(recipient, identifier) { timeline.follow(recipient, identifier); },
  happened(step) { timeline.add(step); },
};

async function loadCategories() {
  const value = await call("GET", `/v1/categories?application=${encodeURIComponent(setup.application)}`).catch(() => null);
  page.categories = new Map((value?.categories ?? []).map(category => [category.identifier, category]));
  byID("categories").replaceChildren(...[...page.categories.keys()].map(value => element("option", { value })));
}
page.loadCategories = loadCategories;
await loadCategories();
startControls(page);

const nameOf = ({ platform, recipient, device }) => JSON.stringify([platform, recipient, device]);

const source = new EventSource("/v1/stream");
let isRegistered = false;
source.addEventListener("begin", event => {
  // What is not told again is gone.
  for (const screen of screens.values()) screen.isTold = false;
  if (!JSON.parse(event.data).again) timeline.clear();
  // The services may have begun again, too.
  isRegistered = false;
  void loadCategories();
});
source.addEventListener("phone", event => {
  const change = JSON.parse(event.data);
  const name = nameOf(change);
  let screen = screens.get(name);
  if (!screen) {
    screen = new PhoneScreen(page, change);
    screens.set(name, screen);
    byID("phones").append(screen.element);
    byID("empty").hidden = true;
  }
  screen.isTold = true;
  screen.take(change);
});
source.addEventListener("gone", event => remove(nameOf(JSON.parse(event.data))));
source.addEventListener("step", event => timeline.add(JSON.parse(event.data)));
source.addEventListener("sources", event => {
  const names = { kafka: "Kafka", apns: "APNs", fcm: "FCM" };
  const states = Object.entries(JSON.parse(event.data));
  const broken = states.filter(([, state]) => state !== true);
  byID("sources").textContent = broken.length
    ? broken.map(([name, why]) => `${names[name]}: ${why}`).join("; ") : `Connected to ${states.map(([name]) => names[name]).join(", ")}`;
  byID("sources").classList.toggle("broken", broken.length > 0);
  if (broken.length === 0 && !isRegistered) {
    isRegistered = true;
    for (const [name, screen] of screens) {
      if (screen.isTold) void screen.registerAgain();
      else remove(name);
    }
  }
});
source.addEventListener("error", () => {
  byID("sources").textContent = "The page's service does not answer: trying again…";
  byID("sources").classList.add("broken");
  // A browser gives up after some answers: begin again by ourselves.
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 2_000);
});

function remove(name) {
  screens.get(name)?.element.remove();
  screens.delete(name);
  byID("empty").hidden = screens.size > 0;
}

async function waitForSetup() {
  for (;;) {
    try {
      return await call("GET", "/v1/setup");
    } catch (error) {
      byID("sources").textContent = `The page's service does not answer: ${error.message}`;
      await new Promise(resolve => setTimeout(resolve, 1_000));
    }
  }
}
