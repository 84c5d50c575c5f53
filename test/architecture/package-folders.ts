// The folders that may import an npm package of others, and those of a workspace that may import the package of another one.

/** npm package → the folders that may import it. */
export const PACKAGE_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  typebox: [
    'contract',
    'components',
    'control-plane/model',
    'control-plane/orchestration',
    'control-plane/views',
    'webhooks/model',
    'webhooks/views',
    'bench/control-plane',
    'cli/template',
    'bench/process',
    'examples',
  ],
  // The transport of the process protocol, and the code that its generated codecs need.
  '@grpc/grpc-js': ['host/hosting/process', 'process-sdk/typescript'],
  '@bufbuild/protobuf': ['process-protocol'],
  // A module of AssemblyScript's own library.
  util: ['guest-sdk/assembly'],
  croner: ['host/schedule'],
  'openid-client': ['cli/platform'],
  yaml: [
    'cli/platform',
    'control-plane/kubernetes',
    'host/configuration',
    'login-provider',
    'test/support/kubernetes',
  ],
  jose: ['tokens'],
  // Requests to registries and receivers, whose addresses it lets us check before it connects, and to the API server of a cluster.
  undici: ['control-plane/kubernetes/api', 'oci', 'webhooks/sending'],
  // Regular expressions of tenants, in linear time.
  re2js: ['webhooks/subscriptions'],
  // Certificates are issued in one place, which loads the library when it issues the first one.
  '@peculiar/x509': ['control-plane/authorities', 'test/support/certificates'],
  '@peculiar/asn1-x509': ['control-plane/authorities'],
  '@peculiar/asn1-schema': ['control-plane/authorities'],
  'reflect-metadata': ['control-plane/authorities', 'test/support/certificates'],
  fastify: ['bench', 'login-provider', 'registry'],
  '@fastify/rate-limit': ['registry'],
  'oidc-provider': ['login-provider', 'test/support'],
  // The products with which the benchmark compares, which are installed beside it.
  '@restatedev/restate-sdk': ['bench/peers'],
  'cloudflare:workers': ['bench/peers'],
  pg: ['host/storage/postgres', 'test/support/postgres', 'test/host/storage/postgres'],
  vitest: ['guest-sdk/testing', 'examples', 'cli/template'],
  pino: ['kit'],
  assemblyscript: ['guest-sdk/compiler'],
  '@bytecodealliance/jco': ['guest-sdk/compiler'],
  preact: ['console/page'],
  '@preact/signals': ['console/page'],
  vite: ['scripts'],
  '@opentelemetry/exporter-trace-otlp-http': ['host/introspection/observability'],
  '@opentelemetry/resources': ['host/introspection/observability'],
  '@opentelemetry/sdk-trace': ['host/introspection/observability'],
  '@opentelemetry/api': ['host/introspection/observability'],
};

/** Workspace → package of another workspace → the folders that may import it, besides the files directly in the workspace. */
export const WORKSPACE_FOLDERS: Readonly<
  Record<string, Readonly<Record<string, readonly string[]>>>
> = {
  // The rest of the runtime serves modules and programs alike.
  host: { '@svc/components': ['host/hosting/program', 'host/service'] },
};
