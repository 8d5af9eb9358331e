// A simulated phone: its screen, and the app on it, which talks to Carillon as a real one does.
import { Carillon } from "./carillon.js";
import { clock, element, foreign, link, media, place } from "./elements.js";
import { disturbs, grouped, notification } from "./notification.js";

const names = { apns: "iPhone", fcm: "Android" };
const bannerMilliseconds = 6_000;
/** Calls to Carillon at one time, for one phone. */
const concurrency = 4;

export class PhoneScreen {
  /** Whether the stream has told of it since it began. */
  isTold = true;
  #page;
  #phone;
  #storage;
  #app;
  /** @type {Map<string, import("./notification.js").Shown>} The oldest first. */
  #shown = new Map();
  #items = new Map();
  #open = new Set();
  #view = "lock";
  #opened = null;
  #badge = 0;
  #token = null;
  #banner = null;
  #queue = [];
  #running = 0;
  #isAsked = false;

  constructor(page, { platform, recipient, device, app }) {
    this.#page = page;
    this.#phone = { platform, recipient, device, app };
    this.#storage = `phone ${platform} ${recipient} ${device}`;
    this.#app = new Carillon({
      url: `/v1/recipients/${encodeURIComponent(recipient)}`,
      application: page.setup.application,
      device,
      token: () => page.token(recipient),
    });
    this.element = this.#build();
    this.#draw();
  }

  // What the simulator tells

  /** Takes a change of what the phone shows. */
  take({ app, token, online, badge, reset, put, drop }) {
    this.#phone.app = app;
    this.#token = token ?? null;
    this.#badge = badge ?? this.#badge;
    this.part("online").checked = online;
    if (reset) this.#shown.clear();
    for (const identifier of drop) this.#shown.delete(identifier);
    let last = null;
    for (const { identifier, shown } of put) {
      const known = this.#shown.get(identifier);
      last = notification(this.#phone.platform, identifier, shown);
      if (!reset) {
        last.time ??= new Date().toISOString();
        this.#arrived(last);
      }
      this.#items.delete(identifier);
      this.#shown.delete(identifier);
      this.#shown.set(identifier, { ...last, isUpdate: Boolean(known) });
    }
    for (const identifier of this.#items.keys()) if (!this.#shown.has(identifier)) this.#items.delete(identifier);
    if (this.#banner && !this.#shown.has(this.#banner.identifier)) this.#hideBanner();
    if (last && !reset && disturbs(last)) this.#showBanner(last);
    this.#ask();
  }

  #arrived(shown) {
    const { recipient, device } = this.#phone;
    const texts = [shown.title, shown.subtitle, shown.body].filter(Boolean).join(", ");
    if (disturbs(shown)) this.#page.announce(`${device}: ${texts}`);
    if (!shown.origin) return;
    this.#page.happened({
      time: shown.time, name: "shown", words: `on ${device}`, recipient, identifier: shown.origin.identifier,
    });
    this.#tell(() => this.#app.report(shown.origin, "presented"));
  }

  // The app

  /** Registers with what the person has set, if the page has done so before: tokens and services change. */
  async registerAgain() {
    if (localStorage.getItem(this.#storage) !== null) await this.#register();
  }

  async #register() {
    if (!this.#token) return;
    const { platform, app } = this.#phone;
    const { permission = "authorized", off = [] } = this.#settings;
    const settings = Object.fromEntries(["alert", "sound", "badge"].map(name => [name, off.includes(name) ? "disabled" : "enabled"]));
    await this.#tellNow(() => this.#app.register({
      platform, token: this.#token, bundleIdentifier: app, locale: navigator.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, authorizationStatus: permission, settings,
    }));
  }

  get #settings() {
    try {
      return JSON.parse(localStorage.getItem(this.#storage)) ?? {};
    } catch {
      return {};
    }
  }

  async #change(settings) {
    localStorage.setItem(this.#storage, JSON.stringify({ ...this.#settings, ...settings }));
    await this.#register();
  }

  /** Calls Carillon in the order of the calls, a few at one time. */
  #tell(action) {
    this.#queue.push(action);
    if (this.#queue.length > 2_000) this.#queue.shift();
    void this.#run();
  }

  async #run() {
    if (this.#running >= concurrency) return;
    this.#running += 1;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await this.#tellNow(next);
    this.#running -= 1;
  }

  async #tellNow(action) {
    try {
      await action();
      this.part("problem").textContent = "";
    } catch (error) {
      this.part("problem").textContent = error.message;
    }
  }

  get #path() {
    const { platform, recipient, device } = this.#phone;
    return `/v1/phones/${platform}/${encodeURIComponent(recipient)}/${encodeURIComponent(device)}`;
  }

  /** The person does something with a notification. */
  async #respond(shown, action, userText) {
    this.#hideBanner(shown.identifier);
    this.#shown.delete(shown.identifier);
    this.#items.delete(shown.identifier);
    const definition = this.#actions(shown).find(one => one.identifier === action);
    if (action === "default" || definition?.options?.includes("foreground")) await this.#openApp(shown);
    this.#ask();
    await this.#tellNow(async () => {
      if (shown.origin) await this.#app.respond(shown.origin, action, userText);
      await this.#page.call("DELETE", `${this.#path}/notifications/${encodeURIComponent(shown.identifier)}`)
        .catch(error => { if (error.status !== 502) throw error; });
    });
  }

  async #openApp(shown = null) {
    this.#opened = shown;
    this.#show("app");
    this.#badge = 0;
    await this.#tellNow(async () => {
      await this.#page.call("PUT", this.#path, { badge: 0 });
      await this.#app.appState("foreground", 0);
      if (shown?.origin) await this.#app.report(shown.origin, "opened");
    });
  }

  #show(view) {
    if (this.#view === "app" && view !== "app") this.#tell(() => this.#app.appState("background", this.#badge));
    this.#view = view;
    if (this.#lists) this.#hideBanner();
    this.#ask();
  }

  /** Whether all notifications are before one's eyes: then none comes as a banner. */
  get #lists() { return this.#view === "lock" || this.#view === "centre"; }

  #actions(shown) {
    return shown.actions ?? this.#page.categories.get(shown.category)?.actions ?? [];
  }

  // The screen

  /** An element of the phone by its `data-part`. */
  part(name) { return this.element.querySelector(`[data-part="${name}"]`); }

  #build() {
    const { platform, recipient, device } = this.#phone;
    const title = element("h3", {}, names[platform], " of ", foreign(recipient), element("small", {}, foreign(device)));
    const views = [["lock", "Lock"], ["home", "Home"], ["centre", "Notifications"], ["app", "App"]];
    const part = (name, tag = "div", more = {}) => element(tag, { "data-part": name, ...more });
    return element("section", { class: `phone ${platform}`, "aria-label": `${names[platform]} ${device} of ${recipient}` },
      title,
      element("div", { class: "glass" },
        element("p", { class: "bar" }, element("time", { "data-part": "clock" }), part("away", "span")),
        part("banner"),
        part("screen", "div", { class: "screen" })),
      element("div", { class: "row", role: "group", "aria-label": "Screen" }, ...views.map(([view, text]) => element("button", {
        type: "button", "data-view": view, click: () => (view === "app" ? this.#openApp() : this.#show(view)),
      }, text))),
      this.#buildSettings(),
      part("problem", "p", { class: "problem", role: "alert" }));
  }

  #buildSettings() {
    const { permission = "authorized", off = [] } = this.#settings;
    const statuses = ["authorized", "provisional", "denied"];
    const toggles = ["alert", "sound", "badge"].map(name => element("label", {}, element("input", {
      type: "checkbox", name, checked: !off.includes(name),
      change: event => {
        const others = (this.#settings.off ?? []).filter(one => one !== name);
        void this.#change({ off: event.target.checked ? others : [...others, name] });
      },
    }), ` ${name}`));
    return element("details", { class: "settings" },
      element("summary", {}, "Settings and place"),
      element("label", {}, "Notifications ", element("select", {
        name: "permission", change: event => void this.#change({ permission: event.target.value }),
      }, ...statuses.map(value => element("option", { value, selected: value === permission }, value)))),
      element("p", { class: "row" }, ...toggles, element("label", {}, element("input", {
        type: "checkbox", "data-part": "online", checked: true,
        change: event => this.#tellNow(() => this.#page.call("PUT", this.#path, { online: event.target.checked })),
      }), " network")),
      element("form", { class: "row", "aria-label": "Place", submit: event => this.#locate(event) },
        element("label", {}, "Latitude ", element("input", { name: "latitude", type: "number", step: "any", min: -90, max: 90, value: 31.2304, required: true })),
        element("label", {}, "Longitude ", element("input", { name: "longitude", type: "number", step: "any", min: -180, max: 180, value: 121.4737, required: true })),
        element("button", { value: "there" }, "I am there"),
        element("button", { value: "away" }, "I am far from it")),
      element("button", { type: "button", click: () => this.#uninstall() }, "Remove the app"));
  }

  #locate(event) {
    event.preventDefault();
    const [latitude, longitude] = ["latitude", "longitude"].map(name => Number(event.target.elements[name].value));
    // A degree of latitude is 111 km: outside of most regions.
    const away = event.submitter?.value === "away" ? (latitude > 0 ? -1 : 1) : 0;
    void this.#tellNow(() => this.#app.location({ latitude: latitude + away, longitude, accuracy: 15 }));
  }

  async #uninstall() {
    localStorage.removeItem(this.#storage);
    await this.#tellNow(() => this.#page.call("DELETE", this.#path));
  }

  /** Draws once for all changes of a moment. */
  #ask() {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#draw();
    });
  }

  #draw() {
    this.part("clock").textContent = clock(new Date());
    this.part("away").textContent = this.part("online").checked ? "" : "no network";
    for (const button of this.element.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === this.#view));
    }
    const screen = this.part("screen");
    screen.dataset.view = this.#view;
    if (this.#view === "home") screen.replaceChildren(this.#icon());
    else if (this.#view === "app") screen.replaceChildren(...this.#appScreen());
    else this.#drawList(screen);
  }

  #icon() {
    const count = this.#phone.platform === "fcm" ? this.#shown.size : this.#badge;
    const label = count > 0 ? `${this.#phone.app}, ${count} new` : this.#phone.app;
    return element("button", { type: "button", class: "icon", "aria-label": label, click: () => this.#openApp() },
      element("span", { "aria-hidden": "true" }, "C"),
      count > 0 && element("span", { class: "badge", "data-part": "badge", "aria-hidden": "true" }, String(count)));
  }

  #appScreen() {
    const shown = this.#opened;
    if (!shown) return [element("p", {}, "The app is open.")];
    return [
      element("h4", {}, foreign(shown.title)), element("p", {}, foreign(shown.body)),
      shown.target && element("p", {}, "Opens ", link(shown.target)),
      ...media(shown),
    ].filter(Boolean);
  }

  // The list of notifications, on the lock screen and in the notification centre

  #drawList(screen) {
    const list = screen.querySelector("ul") ?? element("ul", { class: "list", "aria-label": "Notifications" });
    if (!list.parentNode) screen.replaceChildren(list);
    const rows = [];
    for (const { key, thread, notifications } of grouped(this.#shown.values())) {
      const isOpen = this.#open.has(key) || notifications.length === 1;
      rows.push(...(isOpen ? notifications : notifications.slice(0, 1)).map(shown => this.#item(shown)));
      if (notifications.length > 1) rows.push(this.#groupRow(key, thread, notifications.length, isOpen));
    }
    if (rows.length === 0) rows.push(element("li", { class: "none" }, "No notifications"));
    place(list, rows);
  }

  #groupRow(key, thread, count, isOpen) {
    return element("li", { class: "group" }, element("button", {
      type: "button", "aria-expanded": String(isOpen),
      click: () => {
        if (isOpen) this.#open.delete(key);
        else this.#open.add(key);
        this.#ask();
      },
    }, isOpen ? "Show less of " : `${count - 1} more of `, foreign(thread)));
  }

  /** The same element for the same notification, so that focus and what is typed stay. */
  #item(shown) {
    let item = this.#items.get(shown.identifier);
    if (!item) {
      item = element("li", { class: "notification", "data-identifier": shown.origin?.identifier ?? shown.identifier }, ...this.#card(shown));
      this.#items.set(shown.identifier, item);
    }
    return item;
  }

  #card(shown) {
    const menu = element("div", { class: "actions", hidden: true });
    const options = element("button", {
      type: "button", class: "options", "aria-expanded": "false", "aria-label": "Actions",
      click: () => {
        if (!menu.hasChildNodes()) menu.append(...this.#menu(shown));
        menu.hidden = !menu.hidden;
        options.setAttribute("aria-expanded", String(!menu.hidden));
      },
    }, "⋯");
    const time = shown.time && element("time", { datetime: shown.time }, clock(new Date(shown.time)));
    return [
      element("button", { type: "button", class: "tap", click: () => this.#respond(shown, "default") },
        element("span", { class: "from" }, foreign(this.#phone.app), shown.level === "time-sensitive" && " · time-sensitive", " ", time || ""),
        shown.title && foreign(shown.title, { class: "title" }),
        shown.subtitle && foreign(shown.subtitle, { class: "subtitle" }),
        shown.body && foreign(shown.body, { class: "body" })),
      options,
      ...media(shown),
      menu,
    ];
  }

  #menu(shown) {
    const actions = this.#actions(shown).map(({ identifier, title, textInput }) => (textInput
      ? element("form", {
        class: "reply", "aria-label": title,
        submit: event => {
          event.preventDefault();
          void this.#respond(shown, identifier, event.target.elements.text.value);
        },
      },
      element("input", { name: "text", "aria-label": title, placeholder: textInput.placeholder ?? "", required: true, autocomplete: "off" }),
      element("button", {}, foreign(textInput.buttonTitle ?? title)))
      : element("button", { type: "button", "data-action": identifier, click: () => this.#respond(shown, identifier) }, foreign(title))));
    return [
      ...actions,
      element("button", { type: "button", "data-action": "dismiss", click: () => this.#respond(shown, "dismiss") }, "Dismiss"),
      shown.origin && element("button", {
        type: "button", click: () => this.#page.follow(this.#phone.recipient, shown.origin.identifier),
      }, "What happened"),
    ].filter(Boolean);
  }

  // Banners

  #showBanner(shown) {
    if (this.#lists) return;
    this.#hideBanner();
    const card = element("div", { class: "banner notification", "data-identifier": shown.origin?.identifier ?? shown.identifier },
      ...this.#card(shown));
    const banner = { identifier: shown.identifier, timer: 0 };
    const later = () => {
      clearTimeout(banner.timer);
      banner.timer = setTimeout(() => {
        // Whoever is in it takes the time they need.
        if (card.matches(":hover, :focus-within")) later();
        else this.#hideBanner(shown.identifier);
      }, bannerMilliseconds);
    };
    later();
    this.#banner = banner;
    this.part("banner").replaceChildren(card);
  }

  /** @param {string} [identifier] Only if it is of this one. */
  #hideBanner(identifier) {
    if (!this.#banner || (identifier !== undefined && this.#banner.identifier !== identifier)) return;
    clearTimeout(this.#banner.timer);
    this.#banner = null;
    this.part("banner").replaceChildren();
  }
}
