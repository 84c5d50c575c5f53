// FaultLine: the reason of a failure on one line of a list: the module's own message first, if there is one, then the
// runtime's.
import { faultWords } from '../view/fault-words.ts';

export function FaultLine(fault: {
  readonly reason: string;
  readonly guestMessage: string | null | undefined;
}) {
  const { said, reason, whole } = faultWords(fault);
  return (
    <span class="fault-line" title={whole}>
      {said !== undefined && <span class="guest-said">{said}</span>}
      {reason !== undefined && <span class="dim">{reason}</span>}
    </span>
  );
}
