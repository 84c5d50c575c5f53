// DescriptorSchema: the schema of a service's descriptor, for OpenAPI and documentation. It says less than
// descriptorProblems checks: the rules between fields are in the descriptions.
import { ALLOWED_FINDINGS_MAX, HOSTNAMES_MAX, MOUNTS_MAX } from '../descriptor/list-checks.ts';
import { IMAGE_LENGTH_MAX } from '../descriptor/image-reference.ts';
import {
  INSTANCES_DEFAULT,
  INSTANCES_MAX,
  type DescriptorField,
  type ServiceDescriptor,
} from '../descriptor/service-descriptor.ts';
import { ADMITTED_SERVICES_MAX } from '../access-rule.ts';
import { HTTP_PORT, PROCESS_PORT } from '../ports.ts';
import { SERVICE_REFERENCE_LENGTH_MAX, SERVICE_REFERENCE_PATTERN } from '../service-name.ts';
import { serviceName } from './identifiers.ts';
import { body, boolean, integer, list, text, word, type Schema } from './schema.ts';
import { HOSTINGS } from './vocabularies.ts';

function port(description: string): Schema<number> {
  return integer(description, { minimum: 1, maximum: 65_535 });
}

function limitedList(description: string, items: Schema<unknown>, maxItems: number) {
  return { ...list(description, items), maxItems };
}

const fields: Readonly<Record<DescriptorField, Schema<unknown>>> = {
  name: { ...serviceName, description: 'name of the service, equal to the one in the path' },
  image: text('image to run, such as `registry.example.com/shop/cart:4`', {
    minLength: 1,
    maxLength: IMAGE_LENGTH_MAX,
  }),
  hosting: word('how the code is run, `embedded` by default', HOSTINGS),
  protocol: text(
    'only with `process` (`http/1.1` for a web-hosted service, `svc/1` for components) and `wasm` (version of the WIT package, such as `0.2.0`), which need it',
  ),
  runtime: text('version of the runtime that the service declares, such as `1.4.0`'),
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
      'environment variables; with `wasm` only those that set limits, log and shards of the runtime',
    additionalProperties: text('value'),
  },
  mounts: limitedList(
    'web-hosted services: each passes the requests under a path to another service of the project',
    body('Mount', 'A mount.', {
      path: text('prefix of whole segments, such as `/cart`'),
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
    text('hostname'),
    HOSTNAMES_MAX,
  ),
  resources: body(
    'Resources',
    'processor time and memory of each instance',
    {},
    { cpu: text('cores, such as `500m`'), memory: text('bytes, such as `512Mi`') },
  ),
  database: body('SuppliedDatabase', 'a database that the platform does not provision', {
    urlFrom: text("name of the secret that holds the database's URL"),
  }),
  allow: limitedList(
    'findings that the check of an upgrade accepts',
    text('name of a finding, or `NAME:COMPONENT`'),
    ALLOWED_FINDINGS_MAX,
  ),
};

export const descriptorSchema: Schema<ServiceDescriptor> = {
  type: 'object',
  title: 'ServiceDescriptor',
  description: 'What a developer declares of a service.',
  properties: fields,
  required: ['name', 'image'],
  additionalProperties: false,
};
