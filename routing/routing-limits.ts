// RoutingLimits: every bound and every time of the routing protocol.

export const ROUTING_LIMITS = {
  /** Services of a table. */
  servicesMax: 20_000,
  /** Hostnames of a service: the derived one and those of its descriptor. */
  hostnamesMax: 101,
  /** Instances of a service. */
  instancesMax: 1000,
  /** Characters of the services of a table in JSON. Names of a table are ASCII. */
  servicesBytesMax: 32 * 1024 * 1024,
  /** Bytes of the file of a table, and of a line that a router reads. */
  tableBytesMax: 64 * 1024 * 1024,
  /** Bytes of a line that a router sends. */
  routerLineBytesMax: 1024,
  /** Bytes that wait for a router to read them; a router that is further behind loses its connection. */
  unsentBytesMax: 128 * 1024 * 1024,
  /** Connections of routers. */
  routersMax: 64,
} as const;

/** Times in milliseconds. */
export interface RoutingTimes {
  /**
   * Time for a router to acknowledge a hold, and a table beyond `leaveMs`. Then it counts as having acknowledged, and loses its
   * connection.
   */
  readonly acknowledgeMs: number;
  /** Time for which a router waits for the last answers of instances that have left the table before it acknowledges the table. */
  readonly leaveMs: number;
  /** Time for which a router holds the requests of a service unless it is released, also if the orchestrator is gone. */
  readonly holdMs: number;
  /** First and longest pause of a router before it connects again; the pause doubles. */
  readonly reconnectMs: readonly [first: number, longest: number];
  /** Time for a router to name itself after it has connected. */
  readonly helloMs: number;
}

export const ROUTING_TIMES: RoutingTimes = {
  acknowledgeMs: 2000,
  leaveMs: 3000,
  holdMs: 15_000,
  reconnectMs: [50, 2000],
  helloMs: 2000,
};
