/// The page: one document with its style and script, and nothing from elsewhere.
enum InspectorPage {
  /// Returns the page, whose style and script carry a nonce that no other response has.
  static func response() -> InspectorResponse {
    let nonce = AccessToken().text
    return InspectorResponse(
      "text/html; charset=utf-8", document(nonce: nonce), policy: policy(nonce: nonce))
  }

  private static func policy(nonce: String) -> String {
    [
      "default-src 'none'", "style-src 'nonce-\(nonce)'", "script-src 'nonce-\(nonce)'",
      "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
      "frame-ancestors 'none'",
    ].joined(separator: "; ")
  }

  /// Everything that comes from the caches is filled in by the script, as text.
  private static func document(nonce: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Inspector</title>
    <link rel="icon" href="data:,">
    <style nonce="\(nonce)">\(PageStyle.text)</style>
    </head>
    <body>
    \(PageMarkup.text)
    <script nonce="\(nonce)">"use strict";(() => {
    \(PageScript.text)
    })();</script>
    </body>
    </html>

    """
  }
}
