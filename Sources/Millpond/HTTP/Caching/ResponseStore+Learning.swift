extension ResponseStore {
  /// Makes a stored response fresh again, or removes it, if the answer to a request for something
  /// else of its resource shows the version that the origin has now.
  ///
  /// A request with `no-store` makes nothing fresh.
  ///
  /// - Source: RFC 9111 §4.3.4, §4.3.5.
  func learn(from head: HTTPHead, about stored: StoredResponse, _ answered: AnsweredRequest) {
    let isHead = answered.request.method == "HEAD"
    let isSame =
      switch head.status {
      case 304: stored.isConfirmed(by: head, isAsked: false)
      case 200 where isHead: stored.isDescribed(by: head)
      case 206: stored.isOfSameVersion(asPart: head)
      default: false
      }
    if isSame {
      let updated = stored.updated(
        by: head, for: answered.request, requestTime: answered.sent, responseTime: answered.arrived)
      let isKept = updated?.isStorable == true
      if isKept, answered.request.directives.has(.noStore) { return }
      update(stored, to: isKept ? updated : nil, answered).subscribe()
    } else if head.showsOtherVersion(than: stored, isHead: isHead) {
      update(stored, to: nil, answered).subscribe()
    }
  }
}

extension HTTPHead {
  /// Whether this head proves that the origin has another version now, or none.
  fileprivate func showsOtherVersion(than stored: StoredResponse, isHead: Bool) -> Bool {
    if isRedirected { return false }
    if isHead { return status == 200 || StatusMeaning.isGone(status) }
    if StatusMeaning.endsUse(status) { return true }
    guard let tag = EntityTag(of: headers) else { return false }
    if status == 206 { return stored.parsed.entityTag != tag }
    // A body may be compressed on the way, and then has a weak tag.
    return status == 200 && stored.parsed.entityTag?.isWeaklyEqual(to: tag) == false
  }
}
