// StructuralCheck: whether a manifest has only fields that the published types of Kubernetes have, with values of their types. An API server that
// is older than a field drops it or refuses it, and one that is newer takes what is misspelt without a word.

/** Field → its type, as the generated client writes it: `string`, `Array<V1Container>`, `{ [key: string]: string; }`. */
export type FieldTypes = ReadonlyMap<string, string>;

export interface PublishedTypes {
  /** Returns the fields of an object's type; undefined if there is no such type. */
  fieldsOf(type: string): Promise<FieldTypes | undefined>;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const PRIMITIVES: Readonly<Record<string, Check>> = {
  string: isText,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  Date: isText,
  V1MicroTime: isText,
  IntOrString: (value) => isText(value) || Number.isInteger(value),
  any: () => true,
  object: isRecord,
};
const LIST = /^Array<(.+)>$/;
const MAP = /^\{ \[key: string\]: (.+); \}$/;

/** Returns what is wrong with a manifest, a line each. Of a custom resource only the metadata are checked. */
export async function structuralProblems(
  manifest: { readonly apiVersion: string; readonly kind: string; readonly metadata: unknown },
  types: PublishedTypes,
): Promise<readonly string[]> {
  const type = typeOf(manifest);
  return type === undefined
    ? await problemsOf('V1ObjectMeta', manifest.metadata, `${manifest.kind}.metadata`, types)
    : await problemsOf(type, manifest, manifest.kind, types);
}

/** Returns the name of the type; undefined for a custom resource. A beta of a type is compared with what became of it. */
function typeOf({ apiVersion, kind }: { apiVersion: string; kind: string }): string | undefined {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const isBuiltIn = !group!.includes('.') || group!.endsWith('.k8s.io');
  return isBuiltIn && /^v1(beta1)?$/.test(version!) ? `V1${kind}` : undefined;
}

async function problemsOf(
  type: string,
  value: unknown,
  path: string,
  types: PublishedTypes,
): Promise<readonly string[]> {
  const item = LIST.exec(type)?.[1];
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return await all(value.map((one, index) => problemsOf(item, one, `${path}[${index}]`, types)));
  }
  const entry = MAP.exec(type)?.[1];
  if (entry !== undefined) {
    if (!isRecord(value)) return [`${path} is no object`];
    return await all(
      Object.entries(value).map(([key, one]) => problemsOf(entry, one, `${path}.${key}`, types)),
    );
  }
  const check = PRIMITIVES[type];
  if (check !== undefined)
    return check(value) ? [] : [`${path} is ${JSON.stringify(value)}: no ${type}`];
  const fields = await types.fieldsOf(type);
  if (fields === undefined) return [`${path} has the type ${type}, which is not published`];
  if (!isRecord(value)) return [`${path} is no ${type}`];
  return await all(
    Object.entries(value).map(async ([name, one]) => {
      const field = fields.get(name);
      return field === undefined
        ? [`${path}.${name} is no field of ${type}`]
        : await problemsOf(field, one, `${path}.${name}`, types);
    }),
  );
}

async function all(lists: readonly Promise<readonly string[]>[]): Promise<readonly string[]> {
  return (await Promise.all(lists)).flat();
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
