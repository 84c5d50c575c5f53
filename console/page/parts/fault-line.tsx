// FaultLine: the reason of a failure on one line of a list: the module's own message first, if there is one, then the
// runtime's.
import { faultWords } from '../view/fault-words.ts';

export function FaultLine(fault: {
  readonly reason: string;
  readonly guestMessage: string | null | undefined;
}) {
  const { guestText, reason, whole } = faultWords(fault);
  return (
    <span class="fault-line" title={whole}>
      {guestText !== undefined && <span class="guest-said">{guestText}</span>}
      {reason !== undefined && <span class="dim">{reason}</span>}
    </span>
  );
}
