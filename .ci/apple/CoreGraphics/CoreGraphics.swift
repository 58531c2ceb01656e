// The part of Core Graphics, and of Core Foundation, that is used.
//
// Core Foundation's types stand for those they are bridged to, because nothing is bridged here; so
// the casts between them are not checked.
//
// Signatures: https://developer.apple.com/documentation/coregraphics/cgimage.
public import Foundation

public typealias CFData = Data
public typealias CFString = NSString
public typealias CFDictionary = [CFString: Any]

public final class CGImage {
  public var width: Int { fatalError() }
  public var height: Int { fatalError() }
  public var bytesPerRow: Int { fatalError() }
}
