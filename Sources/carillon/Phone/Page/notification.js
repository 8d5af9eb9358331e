// What a simulated phone has got, whichever platform it is of, as one form.

/**
 * @typedef {object} Shown
 * @property {string} identifier What replaces it has the same.
 * @property {string} title
 * @property {string} subtitle
 * @property {string} body
 * @property {string} thread
 * @property {string} category
 * @property {string} level `passive`, `active`, `time-sensitive` or `critical`.
 * @property {boolean} sound
 * @property {string} target What a tap opens.
 * @property {object[] | null} actions Null when they follow from the category.
 * @property {{identifier: string, url: string}[]} attachments
 * @property {import("./carillon.js").Origin | null} origin
 * @property {string | null} time
 */

/**
 * @param {"apns" | "fcm"} platform
 * @param {string} identifier
 * @param {object} shown As the simulator tells it.
 * @returns {Shown}
 */
export function notification(platform, identifier, shown) {
  return platform === "apns" ? ofAPNs(identifier, shown) : ofFCM(identifier, shown);
}

const text = value => (typeof value === "string" ? value : "");
const list = value => (Array.isArray(value) ? value : []);

function ofAPNs(identifier, { payload, shownAt }) {
  const aps = payload?.aps ?? {};
  const alert = typeof aps.alert === "string" ? { body: aps.alert } : aps.alert ?? {};
  const own = payload?.carillon ?? {};
  return {
    identifier,
    title: text(alert.title) || localized(alert["title-loc-key"], alert["title-loc-args"]),
    subtitle: text(alert.subtitle) || localized(alert["subtitle-loc-key"], alert["subtitle-loc-args"]),
    body: text(alert.body) || localized(alert["loc-key"], alert["loc-args"]),
    thread: text(aps["thread-id"]),
    category: text(aps.category),
    level: text(aps["interruption-level"]) || "active",
    sound: aps.sound !== undefined,
    target: text(aps["target-content-id"]),
    actions: null,
    attachments: attachments(own.attachments),
    origin: origin(own),
    time: text(shownAt) || null,
  };
}

function ofFCM(identifier, { content = {}, carillon = {} }) {
  const own = carillon ?? {};
  const presentation = Array.isArray(own.presentation) ? own.presentation : ["banner"];
  const passive = !presentation.includes("banner") && !presentation.includes("sound");
  return {
    identifier,
    title: text(content.title) || localized(content.titleLocalization?.key, content.titleLocalization?.arguments),
    subtitle: text(content.subtitle),
    body: text(content.body) || localized(content.bodyLocalization?.key, content.bodyLocalization?.arguments),
    thread: text(content.threadIdentifier),
    category: text(content.categoryIdentifier),
    level: passive ? "passive" : (text(own.interruptionLevel) || text(content.interruptionLevel) || "active")
      .replace("timeSensitive", "time-sensitive"),
    sound: content.sound !== undefined && presentation.includes("sound"),
    target: text(content.targetContentIdentifier),
    actions: Array.isArray(own.actions) ? own.actions : null,
    attachments: attachments(content.attachments),
    origin: origin(own),
    time: null,
  };
}

/** The app has no translations: the key and the arguments say what it would show. */
function localized(key, values) {
  return text(key) && [key, ...list(values).map(String)].join(" ");
}

function attachments(value) {
  return list(value).filter(one => typeof one?.url === "string")
    .map(({ identifier, url, options }) => ({ identifier: text(identifier), url, hint: text(options?.typeHint) }));
}

function origin({ identifier, requestId, device }) {
  return text(identifier) && text(requestId) ? { identifier, requestId, device } : null;
}

/** Whether it comes as a banner. */
export const disturbs = shown => shown.level !== "passive";

/**
 * Groups for the notification centre: by thread, the newest first; what has no thread is a group by itself.
 *
 * @param {Iterable<Shown>} all The oldest first.
 * @returns {{key: string, thread: string, notifications: Shown[]}[]}
 */
export function grouped(all) {
  const groups = new Map();
  for (const shown of [...all].reverse()) {
    const key = shown.thread ? `thread ${shown.thread}` : `single ${shown.identifier}`;
    const group = groups.get(key) ?? { key, thread: shown.thread, notifications: [] };
    group.notifications.push(shown);
    groups.set(key, group);
  }
  return [...groups.values()];
}
