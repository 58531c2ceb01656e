// The part of Image I/O that is used.
//
// Signatures: https://developer.apple.com/documentation/imageio/cgimagesource.
@_exported import CoreGraphics

public final class CGImageSource {}

public func CGImageSourceCreateWithData(
  _ data: CFData, _ options: CFDictionary?
) -> CGImageSource? { fatalError() }

/// Returns a `CFDictionary?` on Apple's platforms, which is cast to a dictionary.
public func CGImageSourceCopyPropertiesAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> Any? { fatalError() }

public func CGImageSourceCreateThumbnailAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { fatalError() }

public var kCGImagePropertyPixelWidth: CFString { fatalError() }
public var kCGImagePropertyPixelHeight: CFString { fatalError() }
public var kCGImageSourceCreateThumbnailFromImageAlways: CFString { fatalError() }
public var kCGImageSourceCreateThumbnailWithTransform: CFString { fatalError() }
public var kCGImageSourceShouldCacheImmediately: CFString { fatalError() }
public var kCGImageSourceThumbnailMaxPixelSize: CFString { fatalError() }
