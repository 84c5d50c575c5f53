// WasmLimits: every bound that the wasm hosting puts on a module. One unit of fuel pays for a
// function call or a turn of a loop of up to 64 bytes of code, about a nanosecond of plain code.

export interface WasmLimits {
  /** The largest module, in bytes. */
  readonly moduleBytesMax: number;
  /** The largest memory of an instance, in pages of 64 KiB, 1 to 65,536. */
  readonly memoryPagesMax: number;
  /** The most elements of a module's tables together. */
  readonly tableElementsMax: number;
  /** Fuel of instantiation and initialisation, 1 to 2,000,000,000; so for each fuel below. */
  readonly startFuel: number;
  /** Fuel of opening an entity, of its snapshot, and of closing it. */
  readonly entityFuel: number;
  /** Fuel of a command. */
  readonly commandFuel: number;
  /** Fuel of a query. */
  readonly queryFuel: number;
  /** Fuel of folding one event. A batch has that of all its events, up to 2,000,000,000. */
  readonly applyFuelPerEvent: number;
  /** Fuel of an HTTP handler, which pays a unit for each byte that its calls move. Waiting is free. */
  readonly handlerFuel: number;
  /** Fuel of the last look at the log of an instance that has faulted. */
  readonly lastWordsFuel: number;
  /** Bytes of host memory that one call of a module, or one call by a module, may fill. */
  readonly liftedBytesMax: number;
  /** How often one call of a module may call the host. */
  readonly hostCallsMax: number;
  /** Log lines that are kept of one call; the oldest are dropped. */
  readonly logLinesMax: number;
  /** The most entities in one instance. */
  readonly entitiesPerInstance: number;
  /** The most instances that serve HTTP requests, one request at a time each. */
  readonly endpointInstancesMax: number;
  /**
   * The stack of a handler that waits for a call, in KiB, 16 to 984. V8 keeps 4 MiB of stacks for the
   * next handlers, and asks the system for every further one.
   */
  readonly handlerStackKib: number;
  /** An instance whose memory has grown beyond this many pages serves no further request. */
  readonly reusedPagesMax: number;
  /** The most requests that wait for an instance; further ones fail with SVC_OVERLOADED. */
  readonly waitingRequestsMax: number;
}

/** The most fuel a call can have: the counter is a signed 32-bit number. */
export const FUEL_MAX = 2_000_000_000;

export const WASM_LIMITS_DEFAULT: WasmLimits = {
  moduleBytesMax: 32 * 1024 * 1024,
  memoryPagesMax: 1024,
  tableElementsMax: 100_000,
  startFuel: 50_000_000,
  entityFuel: 50_000_000,
  commandFuel: 100_000_000,
  queryFuel: 100_000_000,
  applyFuelPerEvent: 10_000_000,
  handlerFuel: 200_000_000,
  lastWordsFuel: 1_000_000,
  liftedBytesMax: 16 * 1024 * 1024,
  hostCallsMax: 10_000,
  logLinesMax: 1000,
  entitiesPerInstance: 1000,
  endpointInstancesMax: 128,
  handlerStackKib: 32,
  reusedPagesMax: 16,
  waitingRequestsMax: 1024,
};
