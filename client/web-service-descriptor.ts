// WebServiceDescriptor: what a developer declares of a web-hosted service, a program that serves HTTP/1.1 beside the
// platform's proxy.

/** Protocol of a web-hosted process. */
export const WEB_PROTOCOL = 'http/1.1';

export interface Mount {
  /** Prefix of whole segments: `/cart`. */
  readonly path: string;
  /** Service of the same project. */
  readonly service: string;
}

export interface WebServiceDescriptor {
  readonly name: string;
  readonly image: string;
  readonly hosting: 'process';
  readonly protocol: typeof WEB_PROTOCOL;
  /** Version of the runtime that the service declares. */
  readonly runtime?: string;
  /** True, if it is declared: a web-hosted service always serves HTTP. */
  readonly http?: true;
  /** Port on which the service takes requests, default 9000. */
  readonly port?: number;
  /** Port on which the process listens, default 8080. */
  readonly processPort?: number;
  readonly mounts?: readonly Mount[];
  /**
   * Services that may call this one, as access rules name them: `<service>` or `<service>.<project>`. The internet and
   * the service itself always may; absent, nobody else.
   */
  readonly callers?: readonly string[];
  /** Hostnames of its own, beside the derived one. */
  readonly hostnames?: readonly string[];
  /** Environment variables of the process. */
  readonly env?: Readonly<Record<string, string>>;
}
