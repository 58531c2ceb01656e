import MillpondCore
import MillpondSignals

extension ResponseStore {
  /// Makes a stored response fresh again, or removes it, if the answer to a request for something
  /// else of its resource shows the version that the origin has now.
  ///
  /// - Source: RFC 9111 §4.3.4, §4.3.5.
  func learn(
    from head: HTTPHead, about stored: StoredResponse, for key: String, _ request: ParsedRequest,
    requestTime: WallTime, responseTime: WallTime, _ token: FillToken
  ) {
    let isHead = request.method == "HEAD"
    let isSame =
      switch head.status {
      case 304: stored.isConfirmed(by: head, isAsked: false)
      case 200 where isHead: stored.isDescribed(by: head)
      case 206: stored.isOfSameVersion(asPart: head)
      default: false
      }
    if isSame {
      let updated = stored.updated(
        by: head, for: request, requestTime: requestTime, responseTime: responseTime)
      update(stored, to: updated, for: key, token).subscribe()
    } else if head.showsOtherVersion(than: stored, isHead: isHead) {
      update(stored, to: nil, for: key, token).subscribe()
    }
  }
}

extension HTTPHead {
  /// Whether this head proves that the origin has another version now.
  fileprivate func showsOtherVersion(than stored: StoredResponse, isHead: Bool) -> Bool {
    if isHead { return status == 200 }
    guard status == 206, let tag = EntityTag(of: headers) else { return false }
    return stored.parsed.entityTag != tag
  }
}
