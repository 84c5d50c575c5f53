// DescriptorSchema: the schema of a service's descriptor, for OpenAPI and documentation. It takes what descriptorProblems takes, and
// refuses what that refuses, but for the rules that JSON Schema cannot express: two fields with the same port, a mount on the
// service itself, two mounts of one path, quantities that are no whole number, and sizes of variables in bytes.
import { ADMITTED_SERVICES_MAX } from '../access-rule.ts';
import {
  RUNTIME_VERSION,
  SECRET_NAME,
  SECRET_NAME_LENGTH_MAX,
} from '../descriptor/field-checks.ts';
import { PROCESS_PROTOCOL, WIT_VERSION } from '../descriptor/hosting-kind.ts';
import { ADDRESS_PATTERN, HOSTNAME_LENGTH_MAX, HOSTNAME_PATTERN } from '../descriptor/hostname.ts';
import {
  IMAGE_LENGTH_MAX,
  IMAGE_LENGTH_PATTERN,
  IMAGE_PATTERN,
} from '../descriptor/image-reference.ts';
import {
  ALLOWED_FINDINGS_MAX,
  ALLOWED_FINDING_PATTERN,
  HOSTNAMES_MAX,
  MOUNTS_MAX,
} from '../descriptor/list-checks.ts';
import {
  DOT_SEGMENT_PATTERN,
  MOUNT_PATH_LENGTH_MAX,
  MOUNT_PATH_PATTERN,
} from '../descriptor/mount-path.ts';
import { QUANTITY } from '../descriptor/resource-quantity.ts';
import {
  INSTANCES_DEFAULT,
  INSTANCES_MAX,
  PLATFORM_AUTH,
  WEB_PROTOCOL,
  type DescriptorField,
  type ServiceDescriptor,
} from '../descriptor/service-descriptor.ts';
import {
  PROCESS_SETTING_PREFIX,
  SETTING_PREFIX,
  VARIABLES_MAX,
  VARIABLE_BYTES_MAX,
  VARIABLE_NAME_LENGTH_MAX,
} from '../descriptor/variable-checks.ts';
import { RUNTIME_VARIABLES } from '../generated/runtime-words.ts';
import { HTTP_PORT, PROCESS_PORT, RESERVED_PORTS } from '../ports.ts';
import { SERVICE_REFERENCE_LENGTH_MAX, SERVICE_REFERENCE_PATTERN } from '../service-name.ts';
import { PLATFORM_VARIABLES, VARIABLE_NAME } from '../variable-names.ts';
import { serviceName } from './identifiers.ts';
import { body, boolean, integer, list, text, word, type Schema } from './schema.ts';
import { HOSTINGS } from './vocabularies.ts';

type Node = Readonly<Record<string, unknown>>;

const RESERVED = RESERVED_PORTS.map((reserved) => reserved.port);

/** Returns the schema with keywords that its type does not say. */
function restricted<Value>(schema: Schema<Value>, keywords: Node): Schema<Value> {
  return { ...schema, ...keywords };
}

function port(description: string): Schema<number> {
  const words = `${description}; not ${RESERVED.join(', ')}, which the platform has`;
  return restricted(integer(words, { minimum: 1, maximum: 65_535 }), { not: { enum: RESERVED } });
}

function limitedList(description: string, items: Schema<unknown>, maxItems: number) {
  return { ...list(description, items), maxItems, uniqueItems: true };
}

const fields: Readonly<Record<DescriptorField, Schema<unknown>>> = {
  name: { ...serviceName, description: 'name of the service, equal to the one in the path' },
  image: restricted(
    text('image to run, such as `registry.example.com/shop/cart:4`', {
      minLength: 1,
      maxLength: IMAGE_LENGTH_MAX,
      pattern: IMAGE_PATTERN,
    }),
    { allOf: [{ pattern: IMAGE_LENGTH_PATTERN }] },
  ),
  hosting: word('how the code is run, `embedded` by default', HOSTINGS),
  protocol: text(
    'only with `process` (`http/1.1` for a web-hosted service, `svc/1` for components) and `wasm` (version of the WIT package, such as `0.2.0`), which need it',
  ),
  runtime: text(
    'version of svc that the service needs, such as `1.4.0`: the installed one has the same major version, and is not older',
    { pattern: RUNTIME_VERSION.source },
  ),
  port: port(`port on which the service takes requests, default ${HTTP_PORT}`),
  processPort: port(
    `port on which the process of a web-hosted service listens, default ${PROCESS_PORT}`,
  ),
  http: boolean('false: the service serves no HTTP, which a web-hosted service always does'),
  instances: integer(`number of instances, default ${INSTANCES_DEFAULT}`, {
    minimum: 1,
    maximum: INSTANCES_MAX,
  }),
  env: {
    type: 'object',
    description:
      "environment variables; with `wasm`, those that set limits, log and shards of the runtime, and values of the module's configuration; with `process` and `svc/1` they are all of these",
    maxProperties: VARIABLES_MAX,
    propertyNames: {
      maxLength: VARIABLE_NAME_LENGTH_MAX,
      pattern: VARIABLE_NAME.source,
      not: { enum: PLATFORM_VARIABLES },
    },
    additionalProperties: text('value', {
      maxLength: VARIABLE_BYTES_MAX,
      pattern: String.raw`^[^\u0000]*$`,
    }),
  },
  mounts: limitedList(
    'web-hosted services: each passes the requests under a path to another service of the project',
    body('Mount', 'A mount.', {
      path: restricted(
        text('prefix of whole segments, such as `/cart`', {
          maxLength: MOUNT_PATH_LENGTH_MAX,
          pattern: MOUNT_PATH_PATTERN,
        }),
        { not: { pattern: DOT_SEGMENT_PATTERN } },
      ),
      service: serviceName,
    }),
    MOUNTS_MAX,
  ),
  callers: limitedList(
    'web-hosted services: services that may call this one',
    text('`<service>` of the same project, or `<service>.<project>`', {
      maxLength: SERVICE_REFERENCE_LENGTH_MAX,
      pattern: SERVICE_REFERENCE_PATTERN,
    }),
    ADMITTED_SERVICES_MAX,
  ),
  hostnames: limitedList(
    'hostnames of its own, in lower case, beside the derived one',
    restricted(text('hostname', { maxLength: HOSTNAME_LENGTH_MAX, pattern: HOSTNAME_PATTERN }), {
      not: { pattern: ADDRESS_PATTERN },
    }),
    HOSTNAMES_MAX,
  ),
  resources: body(
    'Resources',
    'processor time and memory of each instance',
    {},
    {
      cpu: text('cores, such as `500m`', { pattern: QUANTITY.source }),
      memory: text('bytes, such as `512Mi`', { pattern: QUANTITY.source }),
    },
  ),
  database: body('SuppliedDatabase', 'a database that the platform does not provision', {
    urlFrom: text("name of the secret that holds the database's URL", {
      maxLength: SECRET_NAME_LENGTH_MAX,
      pattern: SECRET_NAME.source,
    }),
  }),
  allow: limitedList(
    'findings that the check of an upgrade accepts',
    text('name of a finding, or `NAME:COMPONENT`', { pattern: ALLOWED_FINDING_PATTERN }),
    ALLOWED_FINDINGS_MAX,
  ),
  auth: word(
    "only with `wasm`, and with `process` and `svc/N`: the routes take access tokens of the installation's identity provider",
    [PLATFORM_AUTH],
  ),
};

/** Fields that only web-hosted services have. */
const WEB_FIELDS = refused('processPort', 'mounts', 'callers');

function refused(...names: readonly DescriptorField[]): Node {
  return Object.fromEntries(names.map((name) => [name, false]));
}

/** Returns the rule that no other variables with a prefix are declared than settings of the runtime. */
function settingsOnly(prefix: string): Node {
  const settings = RUNTIME_VARIABLES.filter((name) => name.startsWith(prefix));
  return { propertyNames: { anyOf: [{ enum: settings }, { not: { pattern: `^${prefix}` } }] } };
}

/** Returns the rule that descriptors which satisfy the condition also satisfy the consequence. */
function rule(condition: Node, consequence: Node): Node {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: condition, then: consequence };
}

/** Returns the condition that a descriptor has fields of these schemas. */
function having(properties: Node): Node {
  return { properties, required: Object.keys(properties) };
}

/** The rules between the fields. */
const RULES: readonly Node[] = [
  // A descriptor without a hosting is one of `embedded`.
  rule(
    { properties: { hosting: { const: 'embedded' } } },
    { properties: { ...refused('protocol', 'auth'), ...WEB_FIELDS } },
  ),
  rule(having({ hosting: { const: 'wasm' } }), {
    properties: {
      protocol: { pattern: WIT_VERSION.source },
      env: settingsOnly(SETTING_PREFIX),
      ...WEB_FIELDS,
    },
    required: ['protocol'],
  }),
  rule(having({ hosting: { const: 'process' } }), {
    properties: {
      protocol: { anyOf: [{ const: WEB_PROTOCOL }, { pattern: PROCESS_PROTOCOL.source }] },
    },
    required: ['protocol'],
  }),
  rule(having({ hosting: { const: 'process' }, protocol: { pattern: PROCESS_PROTOCOL.source } }), {
    properties: {
      env: settingsOnly(PROCESS_SETTING_PREFIX),
      ...WEB_FIELDS,
    },
  }),
  rule(having({ hosting: { const: 'process' }, protocol: { const: WEB_PROTOCOL } }), {
    properties: { ...refused('allow', 'auth'), http: { const: true } },
  }),
  rule(having({ http: { const: false } }), { properties: { hostnames: { maxItems: 0 } } }),
];

export const descriptorSchema: Schema<ServiceDescriptor> = {
  type: 'object',
  title: 'ServiceDescriptor',
  description: 'What a developer declares of a service.',
  properties: fields,
  required: ['name', 'image'],
  additionalProperties: false,
  allOf: RULES,
};
