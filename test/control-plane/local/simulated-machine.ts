// SimulatedMachine: a machine of a model. It carries out the steps of plans, and at random its instances get on, crash, or are
// wanted otherwise. It notes what must never happen.
import type { InstanceView, Step, Wanted } from '../../../control-plane/local/plan-types.ts';
import { planRollout } from '../../../control-plane/local/rollout-plan.ts';
import { Random } from '../../support/random.ts';

const RESTART_HOLD_MS = 2000;

/**
 * `cohorts`: instances serve side by side, but not beside those of another cohort. `images`: an instance ends at its start if its image does not
 * run beside those of the others, and belongs to another cohort from then on.
 */
export type SimulatedService = 'data-folder' | 'side-by-side' | 'cohorts' | 'images';

/** Runs beside no other image. The other ones run beside one another, but not three of them. */
const LONELY = 'lonely';
const IMAGES = ['a', 'b', 'c', LONELY] as const;
type Image = (typeof IMAGES)[number];

type Mutable = { -readonly [Key in keyof InstanceView]: InstanceView[Key] } & {
  readonly image: Image;
  wasRefused?: boolean;
};

export class SimulatedMachine {
  readonly complaints: string[] = [];
  readonly #random: Random;
  readonly #service: SimulatedService;
  readonly #hasDataFolder: boolean;
  #instances: Mutable[] = [];
  #wanted: Wanted;
  #image: Image = 'a';
  /** Whether an instance of the image was refused beside others. */
  #isApart = false;
  #hold: 'none' | 'asked' | 'acknowledged' = 'none';
  #failure: string | undefined;
  #takeoverSinceMs: number | undefined;
  #unservedSinceMs: number | undefined;
  #hasServed = false;
  #haveRoutersGathered = true;
  #nowMs = 0;
  #created = 0;

  constructor(seed: number, service: SimulatedService) {
    this.#random = new Random(seed);
    this.#service = service;
    const hasDataFolder = service === 'data-folder';
    this.#hasDataFolder = hasDataFolder;
    const cohort = this.#hasDatabase ? 'a' : undefined;
    this.#wanted = { incarnation: 'life1', generation: 1, instances: 1, hasDataFolder, cohort };
  }

  /** Lets things happen. */
  live(rounds: number): void {
    for (let round = 0; round < rounds; round++) {
      const event = this.#random.below(10);
      if (event === 0) this.#wantAnother();
      if (event === 1) this.#crash();
      if (event === 2) this.#hang();
      if (event === 3) this.#startControlPlane();
      this.#pass(50);
      this.#plan();
      this.#checkHold();
    }
  }

  /** Nothing else happens: the machine must get to what is wanted, and then nothing is left to do. */
  settle(): void {
    for (let round = 0; round < 3000; round++) {
      this.#pass(50);
      if (this.#plan() && this.#isIdle()) return;
    }
    this.complaints.push(
      `not settled: ${JSON.stringify([this.#wanted, this.#instances, this.#hold])}`,
    );
  }

  get #hasDatabase(): boolean {
    return this.#service === 'cohorts' || this.#service === 'images';
  }

  #isIdle(): boolean {
    const { isComplete, steps } = this.#planned();
    const isServed = this.#instances.some(({ phase }) => phase === 'ready');
    const isSettled = isComplete || (this.#failure !== undefined && isServed);
    return isSettled && steps.length === 0 && this.#hold === 'none';
  }

  #planned() {
    const ofOthers = this.#instances.filter(
      ({ generation }) => generation !== this.#wanted.generation,
    );
    const isPrepared = this.#instances.some(
      (one) => !ofOthers.includes(one) && this.#near.includes(one.phase),
    );
    if (ofOthers.length === 0 || ofOthers.some(({ phase }) => phase !== 'ended') || !isPrepared)
      this.#takeoverSinceMs = undefined;
    else this.#takeoverSinceMs ??= this.#nowMs;
    const isServed = this.#instances.some(({ phase }) => phase === 'ready');
    this.#hasServed ||= isServed;
    if (isServed || !this.#hasServed) this.#unservedSinceMs = undefined;
    else this.#unservedSinceMs ??= this.#nowMs;
    return planRollout({
      wanted: this.#wanted,
      instances: this.#instances,
      hold: this.#hold,
      haveRoutersGathered: this.#haveRoutersGathered,
      failure: this.#failure,
      takeoverSinceMs: this.#takeoverSinceMs,
      unservedSinceMs: this.#unservedSinceMs,
      nowMs: this.#nowMs,
      limits: {
        takeoverMs: 10_000,
        restartHoldMs: RESTART_HOLD_MS,
        restartPauseMinMs: 100,
        restartPauseMaxMs: 3000,
      },
    });
  }

  /** Phases of an instance that can take over. */
  get #near(): readonly InstanceView['phase'][] {
    return this.#hasDatabase ? ['starting', 'unready'] : ['prepared', 'unready'];
  }

  #plan(): boolean {
    this.#noteRefusal();
    const { steps } = this.#planned();
    for (const step of steps) this.#carryOut(step);
    return steps.length === 0;
  }

  /** The wanted image does not run beside others if an instance of it was refused while others run. */
  #noteRefusal(): void {
    const { generation } = this.#wanted;
    const refused = this.#instances.find((one) => one.wasRefused && one.generation === generation);
    if (refused === undefined || this.#failure !== undefined || this.#isApart) return;
    if (this.#othersThan(refused).size === 0) return;
    this.#isApart = true;
    this.#nameCohorts();
  }

  #nameCohorts(): void {
    if (this.#service !== 'images') return;
    const cohortOf = (image: Image) => (this.#isApart && image === this.#image ? 'apart' : 'a');
    this.#wanted = { ...this.#wanted, cohort: cohortOf(this.#image) };
    for (const one of this.#instances) one.cohort = cohortOf(one.image);
  }

  #othersThan({ image }: Mutable): ReadonlySet<Image> {
    const joined = this.#instances.filter(({ phase }) => phase !== 'ended' && phase !== 'starting');
    return new Set(joined.map((one) => one.image)).difference(new Set([image]));
  }

  #isRefused(one: Mutable): boolean {
    const others = this.#othersThan(one);
    const isLonely = others.size > 0 && (one.image === LONELY || others.has(LONELY));
    return this.#service === 'images' && (isLonely || others.size > 1);
  }

  #carryOut(step: Step): void {
    const one = this.#instances.find((other) => 'name' in step && other.name === step.name);
    switch (step.kind) {
      case 'create':
        this.#create();
        break;
      case 'restart':
        if (one?.phase !== 'ended') this.complaints.push('restarted what runs');
        Object.assign(one!, { phase: 'starting', endedAtMs: undefined, wasRefused: false });
        this.#checkCohorts();
        break;
      case 'hold':
        if (this.#hold === 'none') this.#hold = 'asked';
        break;
      case 'release':
        this.#hold = 'none';
        break;
      case 'retire':
        one!.phase = 'retired';
        break;
      case 'stop':
        this.#checkStop(one!);
        one!.phase = 'stopping';
        break;
      case 'remove':
        if (one?.phase !== 'ended') this.complaints.push('removed what runs');
        this.#instances = this.#instances.filter((other) => other !== one);
        break;
      case 'fail':
        this.#failure = step.reason;
        break;
      default:
        step satisfies never;
    }
  }

  #checkCohorts(): void {
    const live = this.#instances.filter(({ phase }) => phase !== 'ended');
    if (new Set(live.map(({ cohort }) => cohort)).size > 1)
      this.complaints.push('started beside an instance of another cohort');
  }

  #checkStop(one: Mutable): void {
    if (this.#wanted.instances === 0) return;
    if (this.#hasDatabase && one.cohort !== this.#wanted.cohort) {
      if (this.#hold !== 'acknowledged') this.complaints.push('stopped a rival before the hold');
      return;
    }
    if (this.#hasDatabase && this.#failure !== undefined) return;
    if (!this.#hasDataFolder && (one.phase === 'ready' || one.phase === 'unready'))
      this.complaints.push('stopped an instance that may get requests');
    if (!this.#hasDataFolder || one.phase !== 'ready') return;
    const next = this.#instances.some(
      ({ phase, name }) => phase === 'prepared' && name !== one.name,
    );
    if (!next || this.#hold !== 'acknowledged')
      this.complaints.push('stopped before hold or standby');
  }

  /** Requests are held exactly as long as nobody serves them and somebody is about to. */
  #checkHold(): void {
    if (this.#hasDatabase) return;
    const isNext = ({ generation }: Mutable): boolean => generation === this.#wanted.generation;
    const others = this.#instances.filter((one) => !isNext(one));
    const isNear = this.#instances.some(
      (one) => isNext(one) && (one.phase === 'prepared' || one.phase === 'unready'),
    );
    const isTakenOver = others.length > 0 && others.every(({ phase }) => phase === 'ended');
    const isNeeded = this.#hasDataFolder && this.#failure === undefined && isNear && isTakenOver;
    if (isNeeded && this.#wanted.instances > 0 && this.#hold === 'none')
      this.complaints.push('nothing is held in the middle of a takeover');
    const isServed = this.#instances.some(({ phase }) => phase === 'ready');
    if (this.#hold !== 'none' && isServed && !isNear) this.complaints.push('held in vain');
    const isUnserved = this.#failure === undefined && !isNear && !isServed;
    const unservedMs = this.#nowMs - (this.#unservedSinceMs ?? this.#nowMs);
    if (this.#hold !== 'none' && isUnserved && unservedMs > RESTART_HOLD_MS)
      this.complaints.push('held for too long');
  }

  /** The control plane is killed, and another one starts: what is in memory is gone. */
  #startControlPlane(): void {
    this.#hold = 'none';
    this.#takeoverSinceMs = undefined;
    this.#unservedSinceMs = undefined;
    this.#haveRoutersGathered = false;
  }

  #create(): void {
    const { incarnation, generation, cohort } = this.#wanted;
    this.#instances.push({
      name: `instance-${++this.#created}`,
      incarnation,
      generation,
      phase: 'starting',
      failures: 0,
      endedAtMs: undefined,
      isRefused: false,
      cohort,
      image: this.#image,
    });
    this.#checkCohorts();
    const live = this.#instances.filter(({ phase }) => phase !== 'ended' && phase !== 'stopping');
    if (live.length > Math.max(2, this.#wanted.instances + 1) + 1)
      this.complaints.push(`${live.length} instances at once`);
  }

  #wantAnother(): void {
    const { generation } = this.#wanted;
    const instances = this.#random.below(this.#hasDataFolder ? 2 : 4);
    const next = this.#random.chance(30) ? generation : generation + 1;
    const isOther = this.#service === 'cohorts' && next !== generation && this.#random.chance(70);
    const cohort = isOther ? this.#random.pick(['a', 'b', 'c']) : this.#wanted.cohort;
    this.#wanted = { ...this.#wanted, generation: next, instances, cohort };
    this.#failure = undefined;
    if (next === generation) return;
    this.#isApart = false;
    if (this.#random.chance(70)) this.#image = this.#random.pick(IMAGES);
    this.#nameCohorts();
  }

  #crash(): void {
    const live = this.#instances.filter(({ phase }) => phase !== 'ended');
    if (live.length === 0) return;
    const one = this.#random.pick(live);
    Object.assign(one, { phase: 'ended', failures: one.failures + 1, endedAtMs: this.#nowMs });
  }

  /** An instance that serves does not answer for a while, or until it is killed. */
  #hang(): void {
    const ready = this.#instances.filter(({ phase }) => phase === 'ready');
    if (ready.length > 0) this.#random.pick(ready).phase = 'unready';
  }

  /** Time passes: instances get on, one step at most, and the acknowledgement of a hold arrives. */
  #pass(ms: number): void {
    this.#nowMs += ms;
    this.#haveRoutersGathered ||= this.#random.chance(10);
    if (this.#hold === 'asked' && this.#haveRoutersGathered && this.#random.chance(70))
      this.#hold = 'acknowledged';
    for (const one of this.#instances) {
      if (this.#random.chance(30)) continue;
      if (one.phase === 'stopping') Object.assign(one, { phase: 'ended', endedAtMs: this.#nowMs });
      else if (one.phase === 'starting' && this.#isRefused(one))
        Object.assign(one, {
          phase: 'ended',
          failures: one.failures + 1,
          endedAtMs: this.#nowMs,
          wasRefused: true,
        });
      else if (one.phase === 'starting') one.phase = this.#hasDataFolder ? 'prepared' : 'unready';
      else if (one.phase === 'prepared' && this.#isFolderFree()) one.phase = 'unready';
      else if (one.phase === 'unready' && this.#random.chance(20))
        Object.assign(one, { phase: 'ended', failures: one.failures + 1, endedAtMs: this.#nowMs });
      else if (one.phase === 'unready') one.phase = 'ready';
    }
  }

  #isFolderFree(): boolean {
    return !this.#instances.some(({ phase }) => !['starting', 'prepared', 'ended'].includes(phase));
  }
}
