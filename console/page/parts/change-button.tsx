// ChangeButton: sends a change of the service to its control socket, after a second click, and with a reason where the change
// needs one. A service without a control socket, such as one that a program embeds, has no buttons.
import type { ServiceDescription } from '@svc/contract';
import { useState } from 'preact/hooks';
import { sendChange } from '../api.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { problemText } from './waiting.tsx';

interface ChangeButtonProps {
  readonly service: Pick<ServiceDescription, 'instanceId' | 'control'>;
  /** Path of the control socket: '/timers/retry'. */
  readonly path: string;
  readonly change: object;
  readonly label: string;
  /** True: the user gives a reason, which becomes the member `reason` of the change. */
  readonly needsReason?: boolean;
  /** Called when the change is made. */
  readonly done: () => void;
}

export function ChangeButton(props: ChangeButtonProps) {
  return props.service.control === null ? null : <SendingButton {...props} />;
}

function SendingButton(props: ChangeButtonProps) {
  const { service, path, change, label, needsReason = false, done } = props;
  const [reason, setReason] = useState('');
  const send = async (signal: AbortSignal) => {
    const body = needsReason ? { ...change, reason } : change;
    const isChanged = await sendChange(service.instanceId, path, body, signal);
    return isChanged ? undefined : 'There was nothing to change any more.';
  };
  return (
    <ConfirmButton label={label} send={send} textOf={problemText} done={done}>
      {needsReason && (
        <input
          aria-label={`Reason to ${label.toLowerCase()}`}
          placeholder="Reason"
          maxLength={1_000}
          required
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </ConfirmButton>
  );
}
