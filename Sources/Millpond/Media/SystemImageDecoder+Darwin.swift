#if canImport(ImageIO)
  public import CoreGraphics
  public import Foundation
  import ImageIO

  /// A decoder of all formats that the system knows.
  public struct SystemImageDecoder: ImageDecoder {
    /// Creates a decoder.
    public init() {}

    /// Returns the size that the head of the file states.
    ///
    /// - Parameter data: The bytes of the file.
    public func size(of data: Data) throws -> ImageSize {
      guard let source = CGImageSourceCreateWithData(data as CFData, nil),
        let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
        let width = properties[kCGImagePropertyPixelWidth] as? Int,
        let height = properties[kCGImagePropertyPixelHeight] as? Int
      else { throw CocoaError(.fileReadCorruptFile) }
      return ImageSize(width: width, height: height)
    }

    /// Returns the picture, upright, decoded and ready to be drawn.
    ///
    /// - Parameters:
    ///   - data: The bytes of the file.
    ///   - size: The greatest size of the picture.
    public func decode(_ data: Data, scaledTo size: ImageSize) throws -> SystemImage {
      let options =
        [
          kCGImageSourceCreateThumbnailFromImageAlways: true,
          kCGImageSourceCreateThumbnailWithTransform: true,
          kCGImageSourceShouldCacheImmediately: true,
          kCGImageSourceThumbnailMaxPixelSize: max(size.width, size.height),
        ] as CFDictionary
      guard let source = CGImageSourceCreateWithData(data as CFData, nil),
        let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options)
      else { throw CocoaError(.fileReadCorruptFile) }
      return SystemImage(image: image)
    }

    /// Returns the size of the pixels in memory.
    ///
    /// - Parameter image: The picture.
    public func byteCount(of image: SystemImage) -> Int {
      image.image.bytesPerRow * image.image.height
    }
  }

  /// A decoded picture of the system.
  ///
  /// Sendable because a `CGImage` is immutable.
  public struct SystemImage: @unchecked Sendable {
    /// The picture.
    public let image: CGImage
  }

  extension ImageCache where Decoder == SystemImageDecoder {
    /// Creates a cache of pictures in all formats that the system knows.
    ///
    /// - Parameters:
    ///   - media: The cache of the files.
    ///   - byteLimit: The greatest size of all decoded pictures in memory, in bytes.
    ///   - countLimit: The greatest number of pictures in memory.
    ///   - longestSide: The longest side in pixels; larger pictures are scaled down.
    ///   - policy: The pictures to keep in memory when there is no room for all.
    public init(
      _ media: MediaCache<Key>, byteLimit: Int, countLimit: Int = .max, longestSide: Int = .max,
      policy: EvictionPolicy = .leastRecentlyUsed
    ) {
      self.init(
        media, decoder: SystemImageDecoder(), byteLimit: byteLimit, countLimit: countLimit,
        longestSide: longestSide, policy: policy)
    }
  }
#endif
