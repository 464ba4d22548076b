# SPDX-License-Identifier: GPL-2.0
# What the kernel tree being built against has. Each probe looks for the thing
# itself in the headers, never for a version number: distributions backport.

# $(call have,WORD,HEADER): y when HEADER of the kernel mentions WORD
have = $(shell grep -qsw -e '$(1)' '$(srctree)/include/linux/$(2)' && echo y)

# 5.8: IOMMU drivers say which domain a device needs, and Intel's no longer looks at its masks
compat-$(call have,def_domain_type,iommu.h)		+= DEF_DOMAIN_TYPE
# until 5.12; since 5.11 the default domain of a group can be changed
compat-$(call have,DOMAIN_ATTR_NESTING,iommu.h)		+= DOMAIN_ATTR

ccflags-y += $(addprefix -DBNM_HAVE_,$(compat-y))
