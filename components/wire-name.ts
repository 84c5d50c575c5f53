// WireName: the name of a handler or query in requests and descriptors, derived from its name in the program.

/** `addItem` → `add-item` */
export function wireName(key: string): string {
  return key.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}
