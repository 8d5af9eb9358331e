// An app's part, for pages, Electron and Node: registers the device, lists what the person has, and tells what became of a
// notification. It needs no other module.

/**
 * What Carillon says of a notification in the push (`data.carillon` in a browser, `carillon` in a payload). Its other members do
 * not matter here.
 *
 * @typedef {object} Origin
 * @property {string} identifier
 * @property {string} requestId
 * @property {string} [device] The device that got it; without it that of the client.
 */

/**
 * A registration, as the page on HTTP describes it. `platform` and `token` are required.
 *
 * @typedef {object} Registration
 * @property {"apns" | "fcm" | "webpush" | string} platform
 * @property {string} token For `webpush` the JSON of the `PushSubscription`.
 * @property {string} [bundleIdentifier]
 * @property {string} [locale]
 * @property {string} [timeZone]
 * @property {"authorized" | "provisional" | "ephemeral" | "denied" | "notDetermined"} [authorizationStatus]
 * @property {Record<string, string>} [settings]
 */

/** A call that Carillon has refused, or that nobody has answered. */
export class CarillonError extends Error {
  /**
   * @param {string} message
   * @param {object} [more]
   * @param {number} [more.status] Of the answer; 0 without one.
   * @param {string} [more.reason] A reason code, such as `unknown-action`.
   * @param {string} [more.field] What is wrong.
   */
  constructor(message, { status = 0, reason, field } = {}) {
    super(message);
    this.name = "CarillonError";
    Object.assign(this, { status, reason, field });
  }
}

/** What an app on one device does with Carillon, for one recipient. */
export class Carillon {
  #options;

  /**
   * @param {object} options
   * @param {string} options.url The recipient at Carillon: `https://shop.example/push/v1/recipients/ana`.
   * @param {string} [options.queries] The same at the queries of the consumer service, where that is another address.
   * @param {string} options.application
   * @param {string} options.device A name of this device that stays, at most 256 bytes.
   * @param {() => Promise<string | null> | string | null} options.token Asks your back end for a recipient token, before
   *   each call: keep it until it ends. Null where the services ask for none.
   * @param {number} [options.attempts] For a call, 1 to 10, while nobody answers or the service is busy.
   * @param {number} [options.pause] Before the second attempt, in milliseconds; it doubles each time.
   * @param {typeof fetch} [options.fetch]
   */
  constructor({ url, queries = url, application, device, token, attempts = 4, pause = 500, fetch = globalThis.fetch }) {
    this.#options = { url, queries, application, device, token, attempts, pause, fetch };
  }

  /**
   * Registers the device: at each start, since tokens change.
   *
   * @param {Registration} registration
   */
  async register(registration) {
    await this.#call("PUT", this.#device, registration);
  }

  /** The person has signed out: the device gets no more, and removes what it shows. */
  async unregister() {
    await this.#call("DELETE", this.#device);
  }

  /**
   * What the person has, page by page and in no particular order.
   *
   * @param {object} [options]
   * @param {"pending" | "delivered"} [options.state] Both without it.
   * @param {number} [options.limit] Of one call, 1 to 1,000.
   * @returns {AsyncGenerator<object>}
   */
  async *notifications({ state, limit } = {}) {
    let after;
    do {
      const page = await this.#call("GET", "notifications", undefined, { state, limit, after });
      yield* page.notifications;
      after = page.next;
    } while (after);
  }

  /**
   * @param {string} identifier
   * @returns {Promise<object | null>} Null when there is none.
   */
  async notification(identifier) {
    return this.#call("GET", `notifications/${encodeURIComponent(identifier)}`).catch(error => {
      if (error.status === 404) return null;
      throw error;
    });
  }

  /**
   * What the person did.
   *
   * @param {Origin} origin
   * @param {string} action `default` is a tap, `dismiss` its dismissal, else the identifier of an action.
   * @param {string} [userText] What was typed, at most 8 KiB.
   */
  async respond(origin, action = "default", userText) {
    // One response, however often it is sent.
    const responseId = crypto.randomUUID();
    await this.#signal("responses", { ...this.#origin(origin), responseId, actionIdentifier: action, userText });
  }

  /**
   * How far a notification came on this device.
   *
   * @param {Origin} origin
   * @param {"received" | "presented" | "opened"} receipt
   */
  async report(origin, receipt) {
    await this.#signal("receipts", { ...this.#origin(origin), receipt });
  }

  /**
   * Where the device is, for notifications that wait for a region.
   *
   * @param {object} place
   * @param {number} place.latitude In degrees.
   * @param {number} place.longitude In degrees.
   * @param {number} [place.accuracy] In metres.
   * @param {Date} [place.at]
   */
  async location({ latitude, longitude, accuracy, at = new Date() }) {
    await this.#signal("locations", { device: this.#options.device, latitude, longitude, accuracy, at: at.toISOString() });
  }

  /**
   * Whether the app is before the person's eyes, and the number that its icon shows.
   *
   * @param {"foreground" | "background"} state
   * @param {number} [badge]
   */
  async appState(state, badge) {
    await this.#signal("app-states", { device: this.#options.device, state, badge });
  }

  get #device() {
    return `devices/${encodeURIComponent(this.#options.device)}`;
  }

  #origin({ identifier, requestId, device = this.#options.device }) {
    return { identifier, requestId, device };
  }

  async #signal(what, body) {
    await this.#call("POST", what, body);
  }

  async #call(method, path, body, query = {}) {
    const { url, queries, application, token, attempts, fetch } = this.#options;
    const parameters = Object.entries({ application, ...query }).filter(([, value]) => value !== undefined);
    const target = `${method === "GET" ? queries : url}/${path}?${new URLSearchParams(parameters)}`;
    for (let attempt = 1; ; attempt++) {
      const given = typeof token === "function" ? await token() : token;
      const headers = {};
      if (body !== undefined) headers["content-type"] = "application/json";
      if (given) headers.authorization = `Bearer ${given}`;
      let answer;
      try {
        answer = await fetch(target, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
      } catch (error) {
        if (attempt >= attempts) throw new CarillonError(`no answer: ${error.message}`);
        await this.#wait(attempt);
        continue;
      }
      if (answer.ok) return answer.headers.get("content-type")?.includes("json") ? answer.json() : null;
      if (![429, 502, 503, 504].includes(answer.status) || attempt >= attempts) {
        const { detail, reason, field } = await answer.json().catch(() => ({}));
        throw new CarillonError(detail ?? `status ${answer.status}`, { status: answer.status, reason, field });
      }
      await this.#wait(attempt, Number(answer.headers.get("retry-after")) || 0);
    }
  }

  /** Doubling, with chance so that not all clients come back at one time; never before what the service asked for. */
  async #wait(attempt, seconds = 0) {
    const pause = this.#options.pause * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
    await new Promise(resolve => setTimeout(resolve, Math.max(pause, Math.min(seconds, 60) * 1000)));
  }
}
