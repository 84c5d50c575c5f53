// ReceiverUrl: the URL of a subscription as deliveries go to it.

/** Returns the URL without the dots at the end of its host, which names the same host, and is in no certificate. Throws for no URL. */
export function receiverUrl(text: string): URL {
  const url = new URL(text);
  const hostname = url.hostname.replace(/\.+$/, '');
  if (hostname !== '' && hostname !== url.hostname) url.hostname = hostname;
  return url;
}
