// ImageFile: an image on this machine that a command names: an OCI layout as an archive or in a folder.
import { stat } from 'node:fs/promises';
import type { ImageSource } from '@svc/oci/image-source';

/** Opens an image: the only one of a layout, or after a colon the one with a tag. Throws ImageError. */
export async function openImageFile(name: string): Promise<ImageSource> {
  const { path, tag } = await partsOf(name);
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true) {
    const { openLayoutFolder } = await import('@svc/oci/layout-folder');
    return openLayoutFolder(path, { tag });
  }
  const { openLayoutArchive } = await import('@svc/oci/layout-archive');
  return openLayoutArchive(path, { tag });
}

/** A file may have a colon in its own name. */
async function partsOf(name: string): Promise<{ readonly path: string; readonly tag?: string }> {
  const [, path, tag] = /^(.+):([\w.-]+)$/.exec(name) ?? [];
  if (path === undefined || (await exists(name)) || !(await exists(path))) return { path: name };
  return { path, tag: tag! };
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
