// The steps of notifications as they happen, the newest first.
import { element, exactClock, foreign } from "./elements.js";

const kept = 2_000;
const drawn = 300;

export class Timeline {
  #list;
  #filter;
  #steps = [];
  #waiting = [];
  #only = { recipient: null, identifier: null };
  #isAsked = false;

  constructor(list, filter) {
    this.#list = list;
    this.#filter = filter;
    filter.addEventListener("input", () => this.#set(null, filter.elements.identifier.value.trim() || null));
    filter.addEventListener("submit", event => event.preventDefault());
    filter.addEventListener("reset", () => this.#set(null, null));
  }

  /** Shows one notification's steps only. */
  follow(recipient, identifier) {
    this.#filter.elements.identifier.value = identifier;
    this.#set(recipient, identifier);
  }

  clear() {
    this.#steps = [];
    this.#waiting = [];
    this.#list.replaceChildren();
  }

  /** @param {object} step `time`, `name`, `words`, and what it concerns. */
  add(step) {
    this.#steps.push(step);
    if (this.#steps.length > kept) this.#steps.splice(0, kept / 10);
    if (!this.#takes(step)) return;
    this.#waiting.push(step);
    if (this.#waiting.length > drawn) this.#waiting.shift();
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => this.#draw());
  }

  #takes({ recipient, identifier }) {
    const only = this.#only;
    return (!only.identifier || identifier === only.identifier) && (!only.recipient || recipient === only.recipient);
  }

  #set(recipient, identifier) {
    this.#only = { recipient, identifier };
    this.#waiting = [];
    this.#list.replaceChildren(...this.#steps.filter(step => this.#takes(step)).slice(-drawn).reverse().map(step => this.#item(step)));
  }

  #draw() {
    this.#isAsked = false;
    this.#list.prepend(...this.#waiting.reverse().map(step => this.#item(step)));
    this.#waiting = [];
    while (this.#list.childElementCount > drawn) this.#list.lastElementChild.remove();
  }

  #item(step) {
    const { time, name, words, why = [], recipient = "", identifier = "" } = step;
    const about = identifier && element("button", {
      type: "button", class: "about", title: "Only this notification", click: () => this.follow(recipient, identifier),
    }, foreign(recipient), " ", foreign(identifier));
    return element("li", { class: `step ${kind(name)}`, "data-name": name },
      element("time", { datetime: time }, time ? exactClock(new Date(time)) : ""),
      element("strong", {}, name), about, life(step),
      element("p", {}, foreign(words)), ...why.map(text => element("p", { class: "why" }, foreign(text))));
  }
}

/** The whole life of the notification, on a page of its own. */
function life({ application, recipient, identifier }) {
  if (!recipient || !identifier) return null;
  const path = ["recipients", recipient, "notifications", identifier, "explain"].map(encodeURIComponent).join("/");
  const query = application ? `?application=${encodeURIComponent(application)}` : "";
  return element("a", { href: `/v1/${path}${query}`, target: "_blank", rel: "noopener" }, "whole life");
}

/** How a step is coloured. */
function kind(name) {
  if (["delivered", "accepted", "answered", "shown", "device.presented", "device.opened"].includes(name)) return "good";
  if (["requested", "scheduled", "held", "enriched"].includes(name)) return "ahead";
  if (["superseded", "digested", "removed", "cancelled", "removal"].includes(name)) return "over";
  return name.startsWith("signal") || name.startsWith("device.") ? "signal" : "bad";
}
