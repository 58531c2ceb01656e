let planted: Int = ""
