// Plot: the latency of the last two minutes (median, 95th and 99th percentile) above the number of requests. The
// pointer and the arrow keys select a second, whose number of requests and 99th percentile are displayed; a table has
// all numbers.
import type { LiveSecond } from '@svc/contract';
import { useState } from 'preact/hooks';
import {
  LATENCY_TICKS_MS,
  SECONDS_SHOWN,
  latencyHeight,
  latencyPath,
  requestBars,
  secondAt,
  secondPosition,
} from '../view/latency-scale.ts';
import { amountText, durationText } from '../view/number-text.ts';
import { clockText } from '../view/time-text.ts';
import { nowMs } from '../store.ts';

const BOX = { width: 600, height: 170 };
const BARS = { width: 600, height: 36 };

export function LatencyPlot({ seconds }: { readonly seconds: readonly LiveSecond[] }) {
  const [selected, setSelected] = useState<number | undefined>(undefined);
  const at = selected === undefined || selected >= seconds.length ? undefined : selected;
  const point = (event: PointerEvent & { currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setSelected(secondAt((event.clientX - left) / width, seconds.length));
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || seconds.length === 0) return;
    event.preventDefault();
    setSelected(Math.min(seconds.length - 1, Math.max(0, (at ?? seconds.length - 1) + by)));
  };
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">Latency</span>
        <span class="legend is-p50">median</span>
        <span class="legend is-p95">95 %</span>
        <span class="legend is-p99">99 %</span>
        <output class="read-out">{at !== undefined && readOut(seconds[at]!, nowMs.value)}</output>
      </figcaption>
      <div
        class="plot-box"
        role="slider"
        tabIndex={0}
        aria-label="Second of the plot"
        aria-valuemin={1}
        aria-valuemax={Math.max(1, seconds.length)}
        aria-valuenow={(at ?? seconds.length - 1) + 1}
        aria-valuetext={
          seconds.length === 0
            ? 'no request yet'
            : readOut(seconds[at ?? seconds.length - 1]!, nowMs.value)
        }
        onPointerMove={point}
        onPointerLeave={() => setSelected(undefined)}
        onKeyDown={step}
        onBlur={() => setSelected(undefined)}
      >
        <div class="plot-ticks" aria-hidden="true">
          {LATENCY_TICKS_MS.map((ms) => (
            <span key={ms} style={{ bottom: `${latencyHeight(ms) * 100}%` }}>
              {durationText(ms)}
            </span>
          ))}
        </div>
        <svg
          class="plot-lines"
          viewBox={`0 0 ${BOX.width} ${BOX.height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {LATENCY_TICKS_MS.map((ms) => (
            <path key={ms} class="grid" d={`M0 ${(1 - latencyHeight(ms)) * BOX.height}H600`} />
          ))}
          <path class="line is-p99" d={latencyPath(seconds, (one) => one.p99Ms, BOX)} />
          <path class="line is-p95" d={latencyPath(seconds, (one) => one.p95Ms, BOX)} />
          <path class="line is-p50" d={latencyPath(seconds, (one) => one.p50Ms, BOX)} />
          {at !== undefined && (
            <path
              class="cursor"
              d={`M${secondPosition(at, seconds.length) * BOX.width} 0V${BOX.height}`}
            />
          )}
        </svg>
        <svg
          class="plot-bars"
          viewBox={`0 0 ${BARS.width} ${BARS.height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path
            d={requestBars(
              seconds.map((one) => one.requests),
              BARS,
              SECONDS_SHOWN,
            )}
          />
        </svg>
        <div class="plot-axis" aria-hidden="true">
          <span>2 min ago</span>
          <span>requests a second</span>
          <span>now</span>
        </div>
      </div>
      <details class="as-table">
        <summary>As a table</summary>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
        <div class="scroll" tabIndex={0} role="region" aria-label="Latency by second">
          <table>
            <thead>
              <tr>
                <th>Time</th>
                <th class="end">Requests</th>
                <th class="end">Median</th>
                <th class="end">95 %</th>
                <th class="end">99 %</th>
              </tr>
            </thead>
            <tbody>
              {seconds.toReversed().map((one) => (
                <tr key={one.at}>
                  <td class="number">{clockText(one.at, nowMs.value)}</td>
                  <td class="number end">{one.requests}</td>
                  <td class="number end">{orNothing(one.p50Ms)}</td>
                  <td class="number end">{orNothing(one.p95Ms)}</td>
                  <td class="number end">{orNothing(one.p99Ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function readOut(second: LiveSecond, now: number): string {
  const requests = `${clockText(second.at, now)}: ${amountText(second.requests, 'request')}`;
  return second.p99Ms === null
    ? requests
    : `${requests}, 99 % within ${durationText(second.p99Ms)}`;
}

function orNothing(ms: number | null): string {
  return ms === null ? '–' : durationText(ms);
}

/** Displays the requests of the last minute, as high as a line of text. */
export function Sparkline({ requests }: { readonly requests: readonly number[] }) {
  const box = { width: 120, height: 24 };
  return (
    <svg class="sparkline" viewBox="0 0 120 24" preserveAspectRatio="none" aria-hidden="true">
      <path class="grid" d="M0 23.5H120" />
      <path d={requestBars(requests, box, 60)} />
    </svg>
  );
}
