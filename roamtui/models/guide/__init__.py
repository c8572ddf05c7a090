"""The built-in guide: answers by searching, opening and quoting, without any language model."""

from roamtui.models.guide.model import GuideModel

__all__ = ["GuideModel"]
