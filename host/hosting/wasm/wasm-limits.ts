// WasmLimits: every bound that the wasm hosting puts on a module. A unit of fuel pays for work that takes at
// most about 16 nanoseconds, and mostly takes one: a load from memory that is in no cache costs 16 of them,
// an iteration of a loop that only counts costs one.

export interface WasmLimits {
  /** The largest module, in bytes. */
  readonly moduleBytesMax: number;
  /** Maximum duration of a module's admission, in milliseconds. */
  readonly admissionTimeoutMs: number;
  /** Maximum memory of a module's admission, in MiB. */
  readonly admissionMemoryMib: number;
  /** The most functions of a module. */
  readonly functionsMax: number;
  /** The longest function, in bytes of code. */
  readonly functionBytesMax: number;
  /** The most globals of a module. */
  readonly globalsMax: number;
  /** The largest memory of an instance, in pages of 64 KiB, 1 to 65,536. */
  readonly memoryPagesMax: number;
  /** The most elements of a module's tables together, and of all its element segments. */
  readonly tableElementsMax: number;
  /** Fuel of instantiation and initialisation, in units of about 16 nanoseconds at their worst. */
  readonly startFuel: number;
  /** Fuel of opening an entity, of its snapshot, and of closing it. */
  readonly entityFuel: number;
  /** Fuel of a command. */
  readonly commandFuel: number;
  /** Fuel of a query, and of a reply from the state after the events of its command. */
  readonly queryFuel: number;
  /** Fuel of folding one event. */
  readonly applyFuelPerEvent: number;
  /** The most fuel of folding several events at once; a single one may have more. */
  readonly applyFuelPerBatch: number;
  /** Fuel of an HTTP handler, which pays a unit for each byte that its calls move. Waiting is free. */
  readonly handlerFuel: number;
  /** Fuel for freeing and collecting memory after the host has read a result. */
  readonly collectionFuel: number;
  /** Fuel for reading the log of an instance that has faulted, once. */
  readonly lastWordsFuel: number;
  /** Bytes of host memory that one call of a module, or one call by a module, may fill. */
  readonly liftedBytesMax: number;
  /** Bytes of one string that a module passes, in its own encoding. */
  readonly stringBytesMax: number;
  /** Items of one list that a module passes. */
  readonly listItemsMax: number;
  /** How often one call of a module may call the host. */
  readonly hostCallsMax: number;
  /** How often the handler of one request may call components. */
  readonly componentCallsMax: number;
  /** Resources that a module may hold for itself beside those that the host holds. */
  readonly handlesMax: number;
  /** Log lines of one call that are kept; the oldest are dropped. */
  readonly logLinesMax: number;
  /** Bytes of one call's log lines that are kept; the call pays a unit of fuel for each. */
  readonly logBytesMax: number;
  /** Bytes of memory of all instances together. */
  readonly memoryBytesTotalMax: number;
  /** Bytes of memory of released instances; above that, garbage is collected before the next instance is created. */
  readonly releasedBytesMax: number;
  /** The most entities in one instance. */
  readonly entitiesPerInstance: number;
  /** The most instances that serve HTTP requests, one request at a time each. As many handle events; each consumer has an equal part of them, one at least. */
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

const MIB = 1024 * 1024;

export const WASM_LIMITS_DEFAULT: WasmLimits = {
  moduleBytesMax: 32 * MIB,
  admissionTimeoutMs: 10_000,
  admissionMemoryMib: 512,
  functionsMax: 100_000,
  functionBytesMax: MIB,
  globalsMax: 10_000,
  memoryPagesMax: 1024,
  tableElementsMax: 100_000,
  startFuel: 50_000_000,
  entityFuel: 400_000_000,
  commandFuel: 400_000_000,
  queryFuel: 400_000_000,
  applyFuelPerEvent: 400_000_000,
  applyFuelPerBatch: 600_000_000,
  handlerFuel: 600_000_000,
  collectionFuel: 500_000_000,
  lastWordsFuel: 5_000_000,
  liftedBytesMax: 16 * MIB,
  stringBytesMax: 8 * MIB,
  listItemsMax: 65_536,
  hostCallsMax: 10_000,
  componentCallsMax: 1000,
  handlesMax: 1000,
  logLinesMax: 1000,
  logBytesMax: 256 * 1024,
  memoryBytesTotalMax: 2048 * MIB,
  releasedBytesMax: 256 * MIB,
  entitiesPerInstance: 1000,
  endpointInstancesMax: 128,
  handlerStackKib: 32,
  reusedPagesMax: 16,
  waitingRequestsMax: 1024,
};

/** Minimum and maximum of each setting. */
export const WASM_LIMITS_RANGE: Readonly<Record<keyof WasmLimits, readonly [number, number]>> = {
  moduleBytesMax: [1024, 1024 * MIB],
  admissionTimeoutMs: [100, 600_000],
  admissionMemoryMib: [64, 16_384],
  functionsMax: [1, 1_000_000],
  functionBytesMax: [64, 7 * MIB],
  globalsMax: [1, 100_000],
  memoryPagesMax: [1, 65_536],
  tableElementsMax: [0, 10_000_000],
  startFuel: [1, FUEL_MAX],
  entityFuel: [1, FUEL_MAX],
  commandFuel: [1, FUEL_MAX],
  queryFuel: [1, FUEL_MAX],
  applyFuelPerEvent: [1, FUEL_MAX],
  applyFuelPerBatch: [1, FUEL_MAX],
  handlerFuel: [1, FUEL_MAX],
  collectionFuel: [1, FUEL_MAX],
  lastWordsFuel: [1, FUEL_MAX],
  liftedBytesMax: [1024, 1024 * MIB],
  stringBytesMax: [64, 1024 * MIB],
  listItemsMax: [1, 16_000_000],
  hostCallsMax: [0, 1_000_000_000],
  componentCallsMax: [0, 1_000_000_000],
  handlesMax: [1, 1_000_000],
  logLinesMax: [0, 1_000_000],
  logBytesMax: [0, 1024 * MIB],
  memoryBytesTotalMax: [MIB, Number.MAX_SAFE_INTEGER],
  releasedBytesMax: [MIB, Number.MAX_SAFE_INTEGER],
  entitiesPerInstance: [1, 1_000_000],
  endpointInstancesMax: [1, 65_536],
  handlerStackKib: [16, 984],
  reusedPagesMax: [0, 65_536],
  waitingRequestsMax: [0, 1_000_000],
};
