// PublishedTypes of the newest Kubernetes, from the tables that @kubernetes/client-node is generated with. Each type is a file of the package
// that imports nothing, so the client itself is not loaded.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FieldTypes, PublishedTypes } from './structural-check.ts';

const PACKAGE = '@kubernetes/client-node';
/** The variable with the folder of an unpacked package, where it is not installed. */
const FOLDER_VARIABLE = 'SVC_TEST_KUBERNETES_TYPES';

/** A class of the generated client. */
interface GeneratedType {
  getAttributeTypeMap?(): readonly { readonly baseName: string; readonly type: string }[];
}

/** Returns the types; undefined if the package is neither installed nor named. */
export function publishedTypes(): PublishedTypes | undefined {
  const folder = modelsFolder();
  if (folder === undefined) {
    console.log(
      'manifests are not compared with the newest types of Kubernetes: @kubernetes/client-node is not installed',
    );
    return undefined;
  }
  const known = new Map<string, Promise<FieldTypes | undefined>>();
  return {
    fieldsOf: (type) => {
      const found = known.get(type) ?? fieldsIn(folder, type);
      known.set(type, found);
      return found;
    },
  };
}

function modelsFolder(): string | undefined {
  const named = process.env[FOLDER_VARIABLE];
  if (named !== undefined) return join(named, 'dist', 'gen', 'models');
  try {
    return join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), 'gen', 'models');
  } catch {
    return undefined;
  }
}

async function fieldsIn(folder: string, type: string): Promise<FieldTypes | undefined> {
  const file = join(folder, `${type}.js`);
  if (!existsSync(file)) return undefined;
  const loaded = (await import(pathToFileURL(file).href)) as Record<string, GeneratedType>;
  const fields = loaded[type]?.getAttributeTypeMap?.();
  return fields && new Map(fields.map(({ baseName, type: of }) => [baseName, of]));
}
