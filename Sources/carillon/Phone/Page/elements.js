// Makes elements. Texts of notifications are set as text, never as markup.

/**
 * @param {string} name
 * @param {Record<string, any>} [attributes] `class`, `role`, …; functions are listeners; false and undefined leave one out.
 * @param {...(Node | string | null | undefined | false)} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined && child !== false));
  return made;
}

/** A text from outside: its direction, and marks of direction in it, end with it. */
export function foreign(text, attributes = {}) {
  return element("bdi", attributes, String(text ?? ""));
}

/** An `https` URL, or null for every other text. */
export function httpsURL(text) {
  if (typeof text !== "string" || !/^https:\/\//i.test(text)) return null;
  try {
    const url = new URL(text);
    return url.protocol === "https:" && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}

/** The same, or that of a media store on this machine. */
export function pictureURL(text) {
  const url = httpsURL(text);
  if (url) return url;
  try {
    const local = new URL(text);
    return local.protocol === "http:" && ["127.0.0.1", "localhost"].includes(local.hostname) && !local.username ? local : null;
  } catch {
    return null;
  }
}

/** A link that leaves the page, if the text is an `https` URL; else the text. */
export function link(text) {
  const url = httpsURL(text);
  if (!url) return foreign(text);
  return element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, foreign(text));
}

/** `09:41` */
export function clock(date) {
  return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** `09:41:07.123` */
export function exactClock(date) {
  const two = number => String(number).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/**
 * The attachments of a notification: pictures, and links to other files.
 *
 * @param {import("./notification.js").Shown} shown
 * @returns {HTMLElement[]}
 */
export function media(shown) {
  return shown.attachments.map(({ identifier, url, hint }) => {
    const picture = pictureURL(url);
    const isPicture = /image|jpe?g|png|gif|heic|webp/.test(hint) || !/\.(mp[34]|m4a|wav|aiff?|mpe?g)$/i.test(picture?.pathname ?? "");
    if (!picture || !isPicture) return element("p", { class: "file" }, foreign(identifier), " ", link(url));
    return element("img", {
      src: picture.href, alt: identifier || "Picture", loading: "lazy", referrerpolicy: "no-referrer",
      error: event => event.target.replaceWith(element("p", { class: "file" }, foreign(identifier), " cannot be shown")),
    });
  });
}

/** Makes the children of a list these, in this order, and moves only what is elsewhere. */
export function place(list, rows) {
  const wanted = new Set(rows);
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  let at = list.firstElementChild;
  for (const row of rows) {
    if (row === at) at = at.nextElementSibling;
    else list.insertBefore(row, at);
  }
}
