// ConfirmButton: a button whose request is sent after a second click, and that displays why it was not carried out.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiProblem } from '../api.ts';
import { problemOf } from '../loaded.ts';
import { announce } from '../store.ts';

export interface ConfirmButtonProps {
  readonly label: string;
  /** Fields of the form in which the user confirms, such as a reason. */
  readonly children?: ComponentChildren;
  /** Sends the request. Resolves with what the user should know; undefined: it is done. */
  readonly send: (signal: AbortSignal) => Promise<string | undefined>;
  readonly textOf: (problem: ApiProblem) => string;
  /** Called when the request is answered. */
  readonly done: () => void;
}

export function ConfirmButton({ label, children, send, textOf, done }: ConfirmButtonProps) {
  const [isAsked, setAsked] = useState(false);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const confirm = useRef<HTMLFormElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  useEffect(() => {
    if (isAsked) confirm.current?.querySelector<HTMLElement>('input, select, button')?.focus();
  }, [isAsked]);
  const sendOnce = async () => {
    setSending(true);
    try {
      const note = await send(stop.current.signal);
      setProblem(note);
      announce(note ?? `${label}: done`);
      setAsked(false);
      done();
    } catch (error) {
      if (!stop.current.signal.aborted) setProblem(textOf(problemOf(error)));
    }
    setSending(false);
  };
  const shownProblem = problem !== undefined && (
    <span class="change-problem" role="status">
      {problem}
    </span>
  );
  if (!isAsked)
    return (
      <span class="change">
        <button type="button" class="quiet" onClick={() => setAsked(true)}>
          {label}
        </button>
        {shownProblem}
      </span>
    );
  return (
    <form
      ref={confirm}
      class="change"
      onSubmit={(event) => {
        event.preventDefault();
        void sendOnce();
      }}
    >
      {children}
      <button class="primary" disabled={isSending}>
        {label} now
      </button>
      <button type="button" class="quiet" onClick={() => setAsked(false)}>
        Keep
      </button>
      {shownProblem}
    </form>
  );
}
