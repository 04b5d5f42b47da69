// What the page's parts share to find their places.

// Returns the element with this id, which page.html has.
export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}
