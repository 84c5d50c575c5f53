// ProjectName: the name of a service that is made from a project's folder.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Maximum length of a service's name, in characters. */
const NAME_MAX = 63;

/**
 * Returns the name of the service: that of package.json, else that of the folder. In a project of `svc new` it equals the name under which `npm start` runs the
 * service, so that both use the same journal.
 */
export function projectName(root: string): string {
  let name = basename(root);
  try {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly name?: unknown;
    };
    if (typeof manifest.name === 'string') name = manifest.name.replace(/^@[^/]*\//, '');
  } catch {
    // A project without a package.json is valid.
  }
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return (
    plain
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, NAME_MAX)
      .replace(/-$/, '') || 'service'
  );
}
