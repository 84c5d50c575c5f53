// One page of a longer list.

/** The longest page that a caller can ask for. */
export const PAGE_MAX: u32 = 100;

@data
export class Page<T> {
  items: T[] = [];
  /** The number of all items, on this page and on the others. */
  total: u32 = 0;
}

/** The items from `offset` on, `limit` of them at most. */
export function pageOf<T>(items: T[], offset: u32, limit: u32): Page<T> {
  const total = <u32>items.length;
  const start = min(offset, total);
  const end = start + min(min(limit, PAGE_MAX), total - start);
  return { items: items.slice(start, end), total: total };
}
