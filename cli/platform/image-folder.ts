// ImageFolder: a folder of this machine for images, with the name that the operator of an installation has given it
// (svc.local.image-folders). A context has it as a text, `images=/srv/images`.
import { resolve } from 'node:path';

export interface ImageFolder {
  /** Name in references: `images` in `oci:images/shop/cart:4`. */
  readonly name: string;
  /** Absolute path. */
  readonly folder: string;
}

const FORM = /^([A-Za-z0-9_][A-Za-z0-9_.-]{0,62})=(.+)$/s;

/** Parses the text; undefined if it is none. */
export function readImageFolder(text: string): ImageFolder | undefined {
  const [, name, folder] = FORM.exec(text) ?? [];
  return name === undefined || folder === undefined ? undefined : { name, folder: resolve(folder) };
}

export function imageFolderText({ name, folder }: ImageFolder): string {
  return `${name}=${folder}`;
}
