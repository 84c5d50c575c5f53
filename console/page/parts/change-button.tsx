// ChangeButton: sends a change of the service to its control socket, after a second click, and with a reason where the change
// needs one. It displays why a change was not made. A service without a control socket, such as one that a program embeds,
// has no buttons.
import type { ServiceDescription } from '@svc/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { sendChange } from '../api.ts';
import { problemOf } from '../loaded.ts';
import { announce } from '../store.ts';
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
  const [isAsked, setAsked] = useState(false);
  const [isSending, setSending] = useState(false);
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const confirm = useRef<HTMLFormElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  useEffect(() => {
    if (isAsked) confirm.current?.querySelector<HTMLElement>('input, button')?.focus();
  }, [isAsked]);
  const send = async () => {
    setSending(true);
    const body = needsReason ? { ...change, reason } : change;
    try {
      const isChanged = await sendChange(service.instanceId, path, body, stop.current.signal);
      setProblem(isChanged ? undefined : 'There was nothing to change any more.');
      announce(isChanged ? `${label}: done` : 'There was nothing to change any more.');
      setAsked(false);
      done();
    } catch (error) {
      if (!stop.current.signal.aborted) setProblem(problemText(problemOf(error)));
    }
    setSending(false);
  };
  if (!isAsked)
    return (
      <span class="change">
        <button type="button" class="quiet" onClick={() => setAsked(true)}>
          {label}
        </button>
        {problem !== undefined && (
          <span class="change-problem" role="status">
            {problem}
          </span>
        )}
      </span>
    );
  return (
    <form
      ref={confirm}
      class="change"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
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
      <button class="primary" disabled={isSending}>
        {label} now
      </button>
      <button type="button" class="quiet" onClick={() => setAsked(false)}>
        Keep
      </button>
      {problem !== undefined && (
        <span class="change-problem" role="status">
          {problem}
        </span>
      )}
    </form>
  );
}
