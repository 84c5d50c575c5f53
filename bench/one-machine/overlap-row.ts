// Measurement (bd3): how long requests wait while the two instances of a web-hosted service are replaced one after the other, through the gateway, with
// mutual TLS. After each replacement the same load is measured for as long without one.
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { findSandboxSupport } from '../../control-plane/local/sandbox/sandbox-support.ts';
import { installedWebServer } from '../../test/support/installed-services.ts';
import type { PacedPosts } from '../../test/support/paced-posts.ts';
import { ServiceInstallation } from '../../test/support/service-installation.ts';
import { WatchedRoutes } from '../../test/support/watched-routes.ts';
import { median, type Measurement, type Pace } from '../report.ts';

const POSTS_PER_SECOND = 300;
const TRIAL_POSTS_PER_SECOND = 20;
/** Time in seconds by which the answers may be behind the requests; then the machine is too slow, or too busy, for the row. */
const BEHIND_SECONDS_MAX = 20;
/** For each round of the benchmark. */
const REPLACEMENTS = 20;

/** Resolves with no measurement where programs of images cannot run, and says so on stderr. */
export async function measureOverlaps({ rounds, warmUpSeconds }: Pace): Promise<Measurement[]> {
  const support = await findSandboxSupport(true);
  if (support.kind === 'missing') {
    process.stderr.write(`bench: (bd3) is left out: on this machine ${support.reason}\n`);
    return [];
  }
  const isTrial = warmUpSeconds === 0;
  const perSecond = isTrial ? TRIAL_POSTS_PER_SECOND : POSTS_PER_SECOND;
  return [await measure(perSecond, isTrial ? 1 : REPLACEMENTS * rounds)];
}

async function measure(perSecond: number, replacements: number): Promise<Measurement> {
  const installation = await ServiceInstallation.open(installedWebServer);
  const routes = new WatchedRoutes(installation.routesSocket, installation.key);
  try {
    const posts = installation.posts(perSecond);
    const during: number[][] = [];
    const between: number[][] = [];
    for (let count = 0; count < replacements; count++) {
      const startedMs = performance.now();
      during.push(await answeredDuring(posts, () => installation.replace()));
      const spentMs = performance.now() - startedMs;
      between.push(await answeredDuring(posts, () => pause(spentMs)));
      const behind = posts.sent - posts.tookMs.length - posts.failures.length;
      if (behind > BEHIND_SECONDS_MAX * perSecond)
        throw new Error(`this machine does not answer ${perSecond} requests a second now`);
    }
    await posts.stop();
    if (posts.failures.length > 0)
      throw new Error(`${posts.failures.length} of ${posts.sent} failed: ${posts.failures[0]}`);
    if (routes.holds > 0) throw new Error(`requests were held ${routes.holds} times`);
    const longest = during.map(longestOf);
    const longestBetween = between.map(longestOf);
    const medians = {
      longest: inWords(median(longest), median(longestBetween)),
      all: inWords(median(during.flat()), median(between.flat())),
    };
    const [svc, other] = [longestOf(longest), longestOf(longestBetween)];
    return {
      letter: 'bd3',
      what: `platform: longest answer over ${replacements} replacements of the two instances of a web-hosted service at ${perSecond} POST/s, of which none fails and none is held`,
      svc,
      beside: `median of the longest of each: ${medians.longest}; median of all: ${medians.all}; longest without replacements, for as long`,
      other,
      unit: 'ms',
      ratio: svc / other,
      cores: `all ${availableParallelism()}`,
    };
  } finally {
    routes.close();
    await installation.close();
  }
}

/** Resolves with the times of the answers that come until what is done is done, in milliseconds. */
async function answeredDuring(posts: PacedPosts, act: () => Promise<unknown>): Promise<number[]> {
  const answered = posts.tookMs.length;
  await act();
  return posts.tookMs.slice(answered);
}

function longestOf(times: readonly number[]): number {
  return times.reduce((one, other) => Math.max(one, other), 0);
}

function inWords(oneMs: number, otherMs: number): string {
  return `${oneMs.toFixed(1)} ms, and ${otherMs.toFixed(1)} ms without`;
}
