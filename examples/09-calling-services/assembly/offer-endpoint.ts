// The prices of articles, which the site knows.
import { Request, Response, Result, ServiceClient } from "@svc/guest-sdk";

@data
export class Price {
  article: string = "";
  cents: i32 = 0;
}

export function priceOf(article: string): Result<Price> {
  return new ServiceClient("site").get<Price>("/prices/" + encodeURIComponent(article));
}

@endpoint("/offers")
@access("internet")
export class OfferEndpoint {
  /** Passes on the price, or the site's refusal. */
  @get("/{article}")
  offer(article: string): Result<Price> {
    return priceOf(article);
  }

  /** A text for people, whatever happens. */
  @get("/{article}/text")
  text(article: string): Response<string> {
    const reply = new ServiceClient("site").get<Price>("/prices/" + encodeURIComponent(article));
    if (reply.isOk) return new Response<string>(reply.value.cents.toString() + " cents");
    // 404: the site does not know the article. Everything else passes.
    if (reply.status == 404) return new Response<string>("not for sale");
    return new Response<string>("Prices are not known now.", 503).header("retry-after", "5");
  }

  /** Shows who calls: "Gateway" where the site has mounted this service on the platform, "local" on your machine. */
  @get("/{article}/caller")
  caller(article: string, request: Request): string {
    return request.caller;
  }
}
