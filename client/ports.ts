// The ports of a service's instance. A deployed instance and a web-hosted pod have them by the platform's contract; on a
// developer's machine they are chosen at start.

/** Default of the port on which a service takes requests. */
export const HTTP_PORT = 9000;
/** Default of the port on which a web-hosted process listens, on loopback. */
export const PROCESS_PORT = 8080;
/** Readiness, version and metrics of a component service. */
export const MANAGEMENT_PORT = 7626;
/** Readiness of a web-hosted pod. */
export const READINESS_PORT = 7627;
/** Port on loopback at which a web-hosted process calls other services. */
export const CALLING_PORT = 7630;
/** Cluster remoting between the instances of a service. */
export const REMOTING_PORT = 17_355;
/** Port on loopback at which the runtime finds a component process. */
export const COMPONENT_PROCESS_PORT = 9010;

export interface ReservedPort {
  readonly port: number;
  /** The purpose of the port, worded to follow "it is the port of". */
  readonly purpose: string;
}

/** The platform's own ports, which a descriptor may not use. */
export const RESERVED_PORTS: readonly ReservedPort[] = [
  { port: MANAGEMENT_PORT, purpose: 'the management server' },
  { port: READINESS_PORT, purpose: "the proxy's readiness" },
  { port: CALLING_PORT, purpose: 'calls to other services' },
  { port: COMPONENT_PROCESS_PORT, purpose: 'a component process' },
  { port: REMOTING_PORT, purpose: 'cluster remoting' },
];
