// FlowTarget: the entities and consumers of a control plane, whose flows are called without HTTP.
import { vi } from 'vitest';
import { createService, type Components, type Service } from '@svc/host';
import { components } from '../../../control-plane/components.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { FlowDriver } from './flow-driver.ts';
import type { Target } from './history-fleet.ts';
import type { PlantedFault } from './planted-faults.ts';

export class FlowTarget implements Target {
  readonly driver: FlowDriver;
  readonly #dataFolder: string;
  readonly #components: Components;
  #service: Service;

  private constructor(dataFolder: string, made: Components, service: Service, fault: PlantedFault) {
    this.#dataFolder = dataFolder;
    this.#components = made;
    this.#service = service;
    const call: Call = (entity, id) => this.#service.call(entity, id);
    const planted = fault.call?.(call) ?? call;
    this.driver = new FlowDriver(() => planted);
  }

  static async start(dataFolder: string, fault: PlantedFault = {}): Promise<FlowTarget> {
    const made = fault.components?.(components) ?? components;
    return new FlowTarget(dataFolder, made, await started(dataFolder, made), fault);
  }

  async restart(): Promise<void> {
    await this.#service.stop();
    this.#service = await started(this.#dataFolder, this.#components);
  }

  beginKill(afterCalls: number): void {
    this.driver.cutAfter = afterCalls;
  }

  async endKill(): Promise<void> {
    this.driver.cutAfter = undefined;
    await this.restart();
  }

  passTime(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  async stop(): Promise<void> {
    await this.#service.stop();
  }
}

function started(dataFolder: string, made: Components): Promise<Service> {
  return createService({
    ...made,
    name: 'control-plane',
    http: false,
    log: 'none',
    dataFolder,
  });
}
