// The time that a process has for its response, through the real program on raw sockets.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { proxyAnswer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { begin, get, OK, responseOf } from '../support/web-pods/passed-request.ts';
import { WebPod } from '../support/web-pods/web-pod.ts';

const ANSWER_TIMEOUT_MS = 3000;
/** Between the beginning of two requests of which only the first one runs out of time. */
const LATER_MS = 1000;
const BETWEEN_BYTES_MS = 50;

test('P16: a response that begins just within the time passes, and a slow upload takes as long as it wants', async () => {
  const pod = await WebPod.start({
    authority: await CertificateAuthority.create('ca'),
    folder: temporaryFolder(),
    settings: { 'svc.proxy.answer-timeout-ms': String(ANSWER_TIMEOUT_MS) },
  });
  onTestFinished(() => pod.end());
  const [uploader, upload] = await begin(
    pod,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  const [unanswered] = await begin(pod, get('/unanswered'));
  const uploading = setInterval(() => uploader.write('1\r\nx\r\n'), BETWEEN_BYTES_MS);
  onTestFinished(() => clearInterval(uploading));
  await sleep(LATER_MS);
  const [client, late] = await begin(pod, get('/late'));
  // The time of the upload has passed as well by now, had it been counted from its beginning.
  expect(await proxyAnswer(unanswered)).toMatch(/^504 /);
  late.write(responseOf('late'));
  expect((await client.message()).body).toBe('late');
  clearInterval(uploading);
  uploader.write('0\r\n\r\n');
  await upload.take('0\r\n\r\n');
  upload.write(OK);
  expect((await uploader.message()).body).toBe('ok');
});
