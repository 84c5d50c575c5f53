// ServiceDescriptor: what a developer declares of a service. Its hosting decides which further fields it has; the rules of
// the fields are in descriptor-problems.ts.
import type { AllowableFinding } from '../generated/runtime-words.ts';

/** Protocol of a web-hosted process. */
export const WEB_PROTOCOL = 'http/1.1';
/** Value of `auth`: the identity provider of the installation. */
export const PLATFORM_AUTH = 'platform';
/** Number of instances of a service that declares none. */
export const INSTANCES_DEFAULT = 1;
export const INSTANCES_MAX = 10;

export interface Mount {
  /** Prefix of whole segments: `/cart`. */
  readonly path: string;
  /** Service of the same project. */
  readonly service: string;
}

/** Quantities in the notation of Kubernetes, for each instance. */
export interface Resources {
  /** Cores: `500m`, `2`, `0.5`. */
  readonly cpu?: string;
  /** Bytes: `512Mi`, `1G`. */
  readonly memory?: string;
}

/** A database that the platform does not provision. */
export interface SuppliedDatabase {
  /** Name of the secret that holds the database's URL. */
  readonly urlFrom: string;
}

/** Fields that services of every hosting have. */
interface CommonFields {
  readonly name: string;
  readonly image: string;
  /** Version of svc that the service needs: the installed one has the same major version, and is not older. */
  readonly runtime?: string;
  /** Port on which the service takes requests, default 9000. */
  readonly port?: number;
  /** Number of instances, 1 to 10, default 1. */
  readonly instances?: number;
  /** Hostnames of its own, beside the derived one. */
  readonly hostnames?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly resources?: Resources;
  /** Absent: the platform provisions the service's database. */
  readonly database?: SuppliedDatabase;
}

/** Fields of services that are made of components, and so have a journal. */
interface ComponentFields extends CommonFields {
  /** False: the service has no HTTP server, and no hostnames. Default true. */
  readonly http?: boolean;
  /**
   * Differences to the present version that the check of an upgrade accepts, as `svc upgrade-check --allow` does:
   * `route-removed`, or `route-removed:cart` for one component.
   */
  readonly allow?: readonly (AllowableFinding | `${AllowableFinding}:${string}`)[];
}

/** A program with the runtime in its process. */
export interface EmbeddedServiceDescriptor extends ComponentFields {
  readonly hosting?: 'embedded';
}

/** Components in a process beside the runtime. */
export interface ProcessServiceDescriptor extends ComponentFields {
  readonly hosting: 'process';
  readonly protocol: `svc/${number}`;
  /** Its routes take access tokens of the installation's identity provider. Absent: they take none. */
  readonly auth?: typeof PLATFORM_AUTH;
}

/** A module that the runtime runs. */
export interface WasmServiceDescriptor extends ComponentFields {
  readonly hosting: 'wasm';
  /** Version of the WIT package `svc:runtime`: `0.2.0`. */
  readonly protocol: string;
  /** Its routes take access tokens of the installation's identity provider. Absent: they take none. */
  readonly auth?: typeof PLATFORM_AUTH;
}

/** A program that serves HTTP/1.1 beside the platform's proxy. */
export interface WebServiceDescriptor extends CommonFields {
  readonly hosting: 'process';
  readonly protocol: typeof WEB_PROTOCOL;
  /** True, if it is declared: a web-hosted service always serves HTTP. */
  readonly http?: true;
  /** Port on which the process listens, default 8080. */
  readonly processPort?: number;
  readonly mounts?: readonly Mount[];
  /**
   * Services that may call this one, as access rules name them: `<service>` or `<service>.<project>`. The internet and
   * the service itself always may; absent, nobody else.
   */
  readonly callers?: readonly string[];
}

export type ServiceDescriptor =
  | EmbeddedServiceDescriptor
  | ProcessServiceDescriptor
  | WasmServiceDescriptor
  | WebServiceDescriptor;

/** Names of all fields that some descriptor has. */
export type DescriptorField = ServiceDescriptor extends infer Each
  ? Each extends Each
    ? keyof Each
    : never
  : never;
