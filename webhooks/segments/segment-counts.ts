// SegmentCounts: how far the consumers and the views of all segments are behind, as sums over the segments. They are for operators: nobody decides by them.
import type { Segment } from './segments.ts';

/** Numbers by the names of consumers or of views. */
type ByName = Record<string, number>;

export interface SegmentCounts {
  readonly segments: number;
  /** Records of the journals that a consumer has not read. */
  readonly consumerLag: Readonly<ByName>;
  /** Entities whose events wait, since one of them is tried again, or is parked. */
  readonly lanes: { readonly retrying: number; readonly parked: number };
  /** Records of the journals that a view has not folded. */
  readonly viewLag: Readonly<ByName>;
}

export function segmentCounts(
  segments: readonly { readonly service: Pick<Segment['service'], 'counts'> }[],
): SegmentCounts {
  const [consumerLag, viewLag]: [ByName, ByName] = [{}, {}];
  let [retrying, parked] = [0, 0];
  for (const { service } of segments) {
    const { consumers, views } = service.counts();
    for (const [name, counts] of Object.entries(consumers)) {
      consumerLag[name] = (consumerLag[name] ?? 0) + counts.lagRecords;
      retrying += counts.retrying;
      parked += counts.parked;
    }
    for (const [name, { lagRecords }] of Object.entries(views))
      viewLag[name] = (viewLag[name] ?? 0) + lagRecords;
  }
  return { segments: segments.length, consumerLag, lanes: { retrying, parked }, viewLag };
}
